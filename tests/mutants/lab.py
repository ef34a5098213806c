"""Mutants of experiments, objectives, records, training, execution and cli."""

MUTANTS = [
    (
        "records/_files.py",
        "        temporary.replace(path)\n",
        "        path.write_bytes(content)\n",
        ["tests/records/test_store.py::test_whole_files_replace_old_ones_and_leave_no_scraps"],
    ),
    (
        "training/_loop.py",
        "worked = time.process_time() - worked",
        "worked = time.monotonic() - now",
        ["tests/training/test_training.py::test_reports_become_rarer_by_what_they_cost"],
    ),
    (
        "records/_files.py",
        "            temporary.unlink(missing_ok=True)\n",
        "            temporary.exists()\n",
        ["tests/records/test_store.py::test_a_full_disk_loses_nothing_finished"],
    ),
    (
        "records/_database.py",
        "                self._check_ours(connection)\n",
        "",
        ["tests/records/test_store.py::test_a_stranger_s_database_is_left_as_it_is"],
    ),
    (
        "core/_files.py",
        "    place = expand_home(path).resolve()",
        "    place = expand_home(path)",
        ["tests/core/test_files.py::test_a_link_leads_to_its_file"],
    ),
    (
        "core/_json.py",
        "json.dumps(msgspec.to_builtins(value))",
        "msgspec.json.encode(value).decode()",
        ["tests/core/test_files.py::test_a_line_carries_numbers_that_are_not_finite"],
    ),
    (
        "execution/_processes.py",
        '"-P", ',
        "",
        [
            "tests/execution/test_execution.py::test_files_of_the_current_folder_stand_before_no_module"
        ],
    ),
    (
        "records/_store.py",
        "new = [run for run in runs if not self.is_whole(run[0].key, run[0].seed)]",
        "new = list(runs)",
        ["tests/records/test_store.py::test_a_finished_run_is_never_overwritten"],
    ),
    (
        "records/_rows.py",
        'return "nan" if math.isnan(number) else float(number) + 0.0',
        "return float(number) + 0.0",
        ["tests/records/test_store.py::test_the_loss_of_a_network_that_diverged_is_kept"],
    ),
    (
        "records/_database.py",
        '            connection.execute("BEGIN IMMEDIATE")\n            _upgrade(connection)\n',
        "            _upgrade(connection)\n",
        [
            "tests/records/test_store.py::test_runs_that_finished_together_are_kept_together_or_not_at_all"
        ],
    ),
    (
        "records/_locks.py",
        "        if lock_descriptor(lock.descriptor, blocking=False):\n",
        "        if True:\n",
        ["tests/records/test_locks.py::test_two_processes_cannot_hold_one_run"],
    ),
    (
        "records/_locks.py",
        '        raise StoreError(\n            f"cannot lock',
        '        raise BusyError(\n            f"cannot lock',
        ["tests/records/test_locks.py::test_a_file_system_without_locks_is_said_to_be_one"],
    ),
    (
        "records/_store.py",
        'f"{key}-{seed}", network.with_suffix(".lock"))',
        'f"{key}-{seed}",)',
        ["tests/records/test_locks.py::test_a_removed_folder_lets_no_second_process_in"],
    ),
    (
        "records/_store.py",
        "if locks and not any(",
        "if locks and not all(",
        ["tests/records/test_locks.py::test_who_lost_one_lock_writes"],
    ),
    (
        "records/_rows.py",
        "if digest is not None and digest != digest_of(key, seed, run, scores):",
        "if False:",
        [
            "tests/records/test_damage.py::test_no_random_damage_of_the_database_changes_a_number_in_silence"
        ],
    ),
    (
        "records/_database.py",
        '        connection.execute("REINDEX")',
        '        connection.execute("SELECT 1")',
        ["tests/records/test_damage.py::test_an_index_that_names_other_rows_is_made_anew"],
    ),
    (
        "records/_database.py",
        ', ("rw", "EXCLUSIVE"), *immutable]',
        ", *immutable]",
        ["tests/records/test_damage.py::test_a_full_disk_is_read"],
    ),
    (
        "records/_files.py",
        "!= digest:",
        "== str(digest) * 2:",
        ["tests/records/test_damage.py::test_another_network_in_its_place_is_noticed_and_replaced"],
    ),
    (
        "records/_files.py",
        "place = next(place for place in places if not os.path.lexists(place))",
        "place = next(places)",
        ["tests/records/test_damage.py::test_what_is_set_aside_replaces_nothing"],
    ),
    (
        "records/_store.py",
        'f"{key}-{seed}"',
        'f"{key}"',
        ["tests/records/test_locks.py::test_two_processes_cannot_hold_one_run"],
    ),
    (
        "records/_database.py",
        "            if found == 0:\n",
        "            _upgrade(connection)\n            if found == 0:\n",
        [
            "tests/records/test_damage.py::test_an_old_store_is_read_as_it_is_and_gets_digests_when_it_is_written"
        ],
    ),
    (
        "records/_database.py",
        "if found not in range(FORMAT + 1):",
        "if found < 0:",
        ["tests/records/test_store.py::test_a_newer_format_is_refused"],
    ),
    (
        "records/_record.py",
        "if (score.step, score.regime, score.metric) == (self.steps, regime, metric):",
        "if (score.regime, score.metric) == (regime, metric):",
        ["tests/records/test_store.py::test_the_final_score_is_that_of_the_last_step"],
    ),
    (
        "experiments/_experiment.py",
        "max(1, round(self.recipe.steps * fraction))",
        "max(1, int(self.recipe.steps * fraction))",
        ["tests/experiments/test_experiment.py::test_a_fraction_of_the_steps"],
    ),
    (
        "experiments/_experiment.py",
        "self.steps * point // self.evaluations for point in range(1, self.evaluations + 1)",
        "self.steps * point // self.evaluations for point in range(self.evaluations)",
        [
            "tests/experiments/test_experiment.py::test_evaluation_steps_are_even_and_end_at_the_last"
        ],
    ),
    (
        "experiments/_networks.py",
        'encoder = spec.build(shape, stream.child("encoder"))',
        'encoder = spec.build(shape, stream.child("reasoner"))',
        [
            "tests/experiments/test_experiment.py::test_each_part_of_a_network_draws_from_the_stream_of_its_name"
        ],
    ),
    (
        "experiments/_describe.py",
        "    for field, content in changed_fields(value):\n",
        '    for field, content in (f for f in changed_fields(value) if f[0] != "recipe"):\n',
        ["tests/experiments/test_experiment.py::test_every_part_changes_the_key"],
    ),
    (
        "experiments/_describe.py",
        "if field.default is dataclasses.MISSING or content != field.default:",
        "if True:",
        ["tests/experiments/test_experiment.py::test_the_key_of_an_experiment_stays"],
    ),
    (
        "experiments/_describe.py",
        'return name if is_ours(value) else {**name, "source": digest(value)}',
        "return name",
        ["tests/experiments/test_experiment.py::test_a_changed_class_is_another_experiment"],
    ),
    (
        "experiments/_describe.py",
        'if name not in getattr(package, "__all__", ()):',
        "if not hasattr(package, name):",
        ["tests/experiments/test_experiment.py::test_what_is_private_is_refused_by_name"],
    ),
    (
        "experiments/_spec.py",
        "if _typed(content) != _typed(as_annotated(defaults[name], kinds.get(name)))",
        "if name in defaults",
        ["tests/experiments/test_experiment.py::test_a_default_written_out_changes_nothing"],
    ),
    (
        "experiments/_spec.py",
        "        with forked_generators(stream):\n",
        "        if True:\n",
        [
            "tests/experiments/test_experiment.py::test_building_leaves_the_global_generator_alone_and_repeats"
        ],
    ),
    (
        "objectives/_supervised.py",
        "problems).mean()",
        "problems).sum()",
        ["tests/objectives/test_supervised.py"],
    ),
    (
        "training/_batches.py",
        "return -(-len(self._problems) // self._batch_size)",
        "return max(1, len(self._problems) // self._batch_size)",
        ["tests/training/test_training.py::test_an_epoch_shows_every_problem_once_and_in_place"],
    ),
    (
        "training/_batches.py",
        'order = self._stream.child("order", epoch).numpy()',
        'order = self._stream.child("order").numpy()',
        ["tests/training/test_training.py::test_every_epoch_has_an_order_of_its_own"],
    ),
    (
        "training/_batches.py",
        "if epoch != self._epoch:",
        "if epoch > self._epoch:",
        ["tests/training/test_training.py::test_batches_do_not_depend_on_what_was_asked_before"],
    ),
    (
        "training/_batches.py",
        "table, inverse = np.unique(places, return_inverse=True)",
        "table, inverse = places.reshape(-1), np.arange(places.size)",
        ["tests/training/test_training.py::test_a_batch_holds_each_distinct_item_once"],
    ),
    (
        "training/_evaluate.py",
        "range(0, len(problems), chunk)",
        "range(0, len(problems) - chunk + 1, chunk)",
        ["tests/training/test_training.py::test_scores_do_not_depend_on_how_problems_are_cut"],
    ),
    (
        "training/_evaluate.py",
        '    problems = stream(seed, "problems")\n',
        '    problems = stream(0, "problems")\n',
        ["tests/training/test_training.py::test_every_seed_has_problems_of_its_own"],
    ),
    (
        "training/_evaluate.py",
        "        model.train(was_training)\n",
        "        model.train(False)\n",
        [
            "tests/training/test_training.py::test_evaluate_scores_every_regime_and_leaves_the_model_as_it_was"
        ],
    ),
    (
        "training/_evaluate.py",
        "    model.eval()\n    if wants_statistics(model)",
        "    if wants_statistics(model)",
        ["tests/training/test_training.py::test_scores_are_taken_without_dropout"],
    ),
    (
        "training/_evaluate.py",
        "own = copy.deepcopy(model) if keeps else model",
        "own = model",
        [
            "tests/training/test_scoring_networks.py::test_a_glance_normalizes_by_what_it_sees_and_leaves_no_trace[OneNetwork]"
        ],
    ),
    (
        "training/_evaluate.py",
        '((metric_of(task), scores), ("loss", losses))',
        '((metric_of(task), scores), ("loss", scores))',
        [
            "tests/training/test_training.py::test_a_point_of_the_curve_is_what_was_so_at_that_moment"
        ],
    ),
    (
        "training/_learner.py",
        "        self.model.train()\n",
        "",
        ["tests/training/test_training.py::test_updates_are_made_with_dropout"],
    ),
    (
        "training/_learner.py",
        "to_tensors(model | state | optimizer_state(self._optimizer))",
        "to_tensors(model | state | optimizer_state(torch.optim.SGD(self.model.parameters())))",
        [
            "tests/training/test_training.py::test_stopped_and_started_again_ends_with_the_same_bytes"
        ],
    ),
    (
        "training/_stack.py",
        "        load_optimizer_state(self._optimizer, state)\n",
        "",
        [
            "tests/training/test_training.py::test_stopped_and_started_again_ends_with_the_same_bytes"
        ],
    ),
    (
        "training/_stack.py",
        "            for seed, sets in zip(seeds, self._sets, strict=True)\n",
        "            for seed, sets in zip(sorted(seeds, reverse=True), self._sets, strict=True)\n",
        ["tests/training/test_training.py::test_together_equals_alone"],
    ),
    (
        "training/_stack.py",
        "{name: both[first][place] for",
        "{name: both[first][-1 - place] for",
        ["tests/training/test_training.py::test_together_equals_alone"],
    ),
    (
        "training/_loop.py",
        "    return note.step, note.seconds, [list(part) for part in note.scores]",
        "    return note.step, note.seconds, fresh[2]",
        [
            "tests/training/test_training.py::test_stopped_and_started_again_ends_with_the_same_bytes"
        ],
    ),
    (
        "training/_loop.py",
        "    learner.load_state(tensors)\n",
        "",
        [
            "tests/training/test_training.py::test_stopped_and_started_again_ends_with_the_same_bytes"
        ],
    ),
    (
        "training/_loop.py",
        "    if note.key != experiment.key or learner.seeds[0] not in note.seeds:\n",
        "    if note.key != experiment.key:\n",
        ["tests/training/test_training.py::test_the_note_of_another_step_or_seed_is_noticed"],
    ),
    (
        "training/_loop.py",
        "    if note.digest != note.digest_with(tensors) or",
        "    if",
        ["tests/training/test_training.py::test_the_note_of_another_step_or_seed_is_noticed"],
    ),
    (
        "training/_loop.py",
        "fixed.items() <= found.items() and all(",
        "all(",
        ["tests/training/test_training.py::test_a_state_that_does_not_fit_means_a_fresh_start"],
    ),
    (
        "training/_learner.py",
        "        self._seed(self._noise.child(step))\n",
        "",
        [
            "tests/training/test_states.py::test_a_network_of_ones_own_stops_goes_on_and_comes_back[DrawingFromTorch]"
        ],
    ),
    (
        "training/_learner.py",
        "self._noise.child(step)",
        "self._noise.child(0)",
        ["tests/training/test_training.py::test_dropout_differs_from_step_to_step"],
    ),
    (
        "training/_settings.py",
        "                stack.callback(write, before)\n",
        "",
        ["tests/training/test_training.py::test_threads_are_given_back"],
    ),
    (
        "training/_settings.py",
        "    (torch.get_default_dtype, torch.set_default_dtype, torch.float32),\n",
        "",
        ["tests/training/test_settings.py::test_a_setting_changes_no_byte[default dtype]"],
    ),
    (
        "training/_start.py",
        'vars(type(encoder)).get("is_pure") is True',
        'getattr(encoder, "is_pure", False) is True',
        ["tests/training/test_start.py::test_only_an_encoder_that_never_changes_is_fixed"],
    ),
    (
        "core/_parameters.py",
        "inputs, tie_weights=False)",
        "inputs)",
        [
            "tests/training/test_states.py::test_together_equals_alone_where_weights_have_two_names[UnderTwoNames]"
        ],
    ),
    (
        "records/_states.py",
        "value.clone() if start in memory else value",
        "value",
        ["tests/training/test_states.py::test_ties_come_back_as_ties"],
    ),
    (
        "execution/_run.py",
        "    check_no_worker()\n",
        "",
        ["tests/execution/test_workers.py::test_a_worker_starts_no_runs"],
    ),
    (
        "execution/_imports.py",
        "    if module in _failed:\n",
        "    if False:\n",
        [
            "tests/execution/test_workers.py::test_a_module_is_imported_once_however_many_jobs_need_it"
        ],
    ),
    (
        "execution/_here.py",
        "        if _is_done(job.experiment, job.seed, store):\n",
        "        if False:\n",
        [
            "tests/execution/test_execution.py::test_what_another_process_finished_meanwhile_is_not_trained_again"
        ],
    ),
    (
        "execution/_here.py",
        "        store.sweep(key, seed)\n",
        "        pass\n",
        ["tests/execution/test_execution.py::test_a_finished_run_leaves_no_checkpoint"],
    ),
    (
        "execution/_here.py",
        "        for seed, found in zip(learner.seeds, scores, strict=True)\n",
        "        for seed, found in zip(learner.seeds, reversed(scores), strict=True)\n",
        ["tests/execution/test_execution.py::test_a_stack_writes_one_record_a_seed"],
    ),
    (
        "execution/_run.py",
        "        if not is_complete(job.experiment, job.seed, store):\n",
        "        if True:\n",
        ["tests/execution/test_execution.py::test_what_is_recorded_is_not_run_again"],
    ),
    (
        "execution/_processes.py",
        "            replace_dead(place)\n",
        "",
        [
            "tests/execution/test_execution.py::test_killed_at_any_moment_a_worker_leaves_what_the_next_goes_on_from"
        ],
    ),
    (
        "execution/_processes.py",
        "        with held_interrupts():  # they are for the parent\n",
        "        if True:\n",
        [
            "tests/execution/test_execution.py::test_an_interruption_is_for_the_parent_and_not_for_its_workers"
        ],
    ),
    (
        "cli/_main.py",
        "        _check(command)\n",
        "",
        [
            "tests/cli/test_arguments.py::test_what_cannot_be_is_one_line_and_leaves_nothing",
            "tests/cli/test_arguments.py::test_a_gpu_that_is_not_there_is_said",
        ],
    ),
    (
        "cli/_main.py",
        "    with held_interrupts():  # one that meets torch while it loads ends in an abort\n",
        "    if True:\n",
        ["tests/cli/test_interruptions.py::test_ctrl_c_waits_until_torch_is_loaded"],
    ),
    (
        "cli/_main.py",
        "    except KeyboardInterrupt:\n",
        "    except ZeroDivisionError:\n",
        ["tests/cli/test_interruptions.py::test_ctrl_c_ends_cleanly_and_the_same_command_goes_on"],
    ),
    (
        "cli/_train.py",
        "range(command.seeds)",
        "range(1, command.seeds + 1)",
        ["tests/cli/test_commands.py::test_train_trains_once_and_then_finds_its_records"],
    ),
    (
        "cli/_reproduce.py",
        "(claim.at(budget) for claim in at_hand)",
        "(claim.experiment for claim in at_hand)",
        ["tests/cli/test_commands.py::test_reproduce_runs_what_is_missing_and_reports"],
    ),
    (
        "metrics/_accuracy.py",
        "(outputs < own)",
        "(outputs > own)",
        ["tests/metrics/test_accuracy.py::test_several_outputs_answer_by_the_largest"],
    ),
    (
        "training/_trained.py",
        "        network.load_state_dict(weights)\n",
        "        network.load_state_dict(weights, strict=False)\n",
        ["tests/training/test_trained.py::test_weights_that_are_missing_or_another_s_are_refused"],
    ),
    (
        "training/_trained.py",
        "return network.eval()",
        "return network",
        ["tests/training/test_trained.py::test_a_trained_network_scores_what_its_record_says"],
    ),
    (
        "models/_roll_out.py",
        "frames = self._read_again(logits[-1][:, -1:])",
        "frames = self._read_again(logits[-1][:, :1])",
        ["tests/models/test_roll_out.py::test_a_roll_out_is_what_feeding_by_hand_gives"],
    ),
    (
        "models/_roll_out.py",
        "self._taught(items, index) if self.training else self._rolled(items, index)",
        "self._rolled(items, index)",
        [
            "tests/models/test_roll_out.py::test_in_training_every_frame_is_predicted_from_true_ones",
        ],
    ),
    (
        "models/_roll_out.py",
        "read, state = self.core(embeddings, state)",
        "read, _ = self.core(embeddings, state)",
        ["tests/models/test_roll_out.py::test_a_roll_out_is_what_feeding_by_hand_gives"],
    ),
    (
        "models/_roll_out.py",
        "(logits > 0).to(logits.dtype) if self.rounded else logits.sigmoid()",
        "logits.sigmoid() if self.rounded else (logits > 0).to(logits.dtype)",
        ["tests/models/test_roll_out.py::test_a_roll_out_is_what_feeding_by_hand_gives"],
    ),
    (
        "models/_sequence_model.py",
        "read, state = self.core(",
        "read, _ = self.core(",
        [
            "tests/models/test_sequence_model.py::test_reading_in_pieces_gives_what_reading_at_once_gives"
        ],
    ),
    (
        "models/_sequence_model.py",
        "yield F.dropout(read, self.dropout) if self._is_dropping else read",
        "yield read",
        [
            "tests/models/test_sequence_model.py::test_dropout_stands_behind_the_encoder_and_behind_the_core_at_each_place_anew"
        ],
    ),
    (
        "models/_sequence_model.py",
        "return F.dropout(x.gathered(), self.dropout)",
        "return x.at(x.index) if self.takes_indexed else x.gathered()",
        [
            "tests/models/test_sequence_model.py::test_dropout_stands_behind_the_encoder_and_behind_the_core_at_each_place_anew"
        ],
    ),
    (
        "models/_sequence_model.py",
        "return self.training and self.dropout > 0",
        "return self.dropout > 0",
        ["tests/models/test_sequence_model.py::test_without_training_nothing_is_dropped"],
    ),
    (
        "experiments/_networks.py",
        "dropout=self.dropout,",
        "dropout=0.0,",
        ["tests/models/test_sequence_model.py::test_a_network_has_the_dropout_of_its_spec"],
    ),
    (
        "models/_token_reader.py",
        "_drawn(length, width, generator, places_std)",
        "_drawn(length, width, generator)",
        ["tests/models/test_sets.py::test_places_are_drawn_as_far_from_zero_as_asked"],
    ),
    (
        "experiments/_set_network.py",
        "places_std=self.places_std,",
        "places_std=1.0,",
        ["tests/models/test_sets.py::test_a_network_is_put_together_for_what_the_task_shows"],
    ),
    (
        "cli/_train.py",
        "if isinstance(task, RolledOut) and task.given > 1:",
        "if False:",
        [
            "tests/cli/test_commands.py::test_train_lets_a_model_go_on_from_its_own_frames_where_several_are_given"
        ],
    ),
    (
        "cli/_train.py",
        "Spec(PatchEncoder, positions=True) if in_places else encoder",
        "encoder",
        ["tests/cli/test_commands.py::test_train_tells_a_model_where_the_patches_of_an_image_lie"],
    ),
    (
        "tasks/_protocol/_task.py",
        "return task.no_memory_loss(regime) if",
        "return task.no_memory_loss('training') if",
        ["tests/reports/test_extrapolation.py::test_losses_stand_beside_the_least_without_memory"],
    ),
    (
        "training/_learner.py",
        "first = int(stacked)",
        "first = 0",
        [
            "tests/training/test_training.py::test_gradients_are_shortened_to_the_norm_and_no_further"
        ],
    ),
    (
        "training/_learner.py",
        ".clamp(max=1)",
        "",
        [
            "tests/training/test_training.py::test_gradients_are_shortened_to_the_norm_and_no_further"
        ],
    ),
    (
        "training/_learner.py",
        "set_rate(self._optimizer, recipe.rate(step))\n",
        "",
        [
            (
                "tests/training/test_training.py"
                "::test_the_step_size_of_the_recipe_is_the_one_that_is_taken"
            )
        ],
    ),
    (
        "experiments/_schedules.py",
        "self.then.factor(step - growing, steps - growing)",
        "self.then.factor(step - growing, steps)",
        ["tests/experiments/test_experiment.py::test_the_step_size_grows_and_falls"],
    ),
    (
        "reports/_export/_figure_export.py",
        "_sha(encode([line]))",
        "_sha(line.cell.encode())",
        [
            "tests/reports/test_figure_export.py::test_a_figure_of_networks_that_were_run_again_is_refused"
        ],
    ),
    (
        "reports/_tables/_markdown.py",
        "tuple(as_words(cell) for cell in finding.cells)",
        "tuple(finding.cells)",
        ["tests/reports/test_figure_export.py::test_nothing_in_a_figure_is_markup"],
    ),
    (
        "reports/_tables/_markdown.py",
        "[_as_paragraph(caption), ",
        "[as_words(caption), ",
        ["tests/reports/test_figure_export.py::test_a_caption_begins_no_heading_and_no_list"],
    ),
    (
        "reports/_export/_figure_export.py",
        "if _sha(content) != exhibit.digest",
        "if not content",
        ["tests/reports/test_figure_export.py::test_a_damaged_figure_is_refused"],
    ),
    (
        "reports/_export/_figure_export.py",
        'not in FIGURES or path != folder / f"{found.place}.json":',
        "not in FIGURES:",
        ["tests/reports/test_figure_export.py::test_a_damaged_figure_is_refused"],
    ),
    (
        "reports/_export/_figure_export.py",
        " or not all(map(NAME.fullmatch, names))",
        "",
        ["tests/reports/test_figure_export.py::test_a_damaged_figure_is_refused"],
    ),
    (
        "reports/_export/_figure_export.py",
        "if (network.table, network.cell) not in cells",
        "if not cells",
        ["tests/reports/test_figure_export.py::test_a_damaged_figure_is_refused"],
    ),
    (
        "reports/_export/_figure_export.py",
        "len(images) > 1",
        "len(images) > 2",
        [
            "tests/reports/test_figure_export.py::test_figures_of_other_images_have_files_of_their_own"
        ],
    ),
    (
        "reports/_export/_figure_export.py",
        "findings=plate.findings",
        "findings=()",
        ["tests/reports/test_figure_export.py::test_a_figure_stays_as_text_beside_its_picture"],
    ),
    (
        "reproductions/gondal2021/_cores.py",
        "positions=self.places or not self.interprets",
        "positions=not self.interprets",
        [
            (
                "tests/reproductions/test_gondal2021.py"
                "::test_interpreters_with_places_differ_from_those_without_in_nothing_else"
            )
        ],
    ),
    (
        "training/_learner.py",
        'rate * group["factor"]',
        "rate",
        ["tests/training/test_training.py::test_a_part_takes_the_step_size_it_has_of_its_own"],
    ),
    (
        "training/_learner.py",
        "groups.setdefault((factor, decays), [])",
        "groups.setdefault((1.0, decays), [])",
        ["tests/training/test_training.py::test_a_part_takes_the_step_size_it_has_of_its_own"],
    ),
    (
        "experiments/_experiment.py",
        "[rate / self.learning_rate for rate in rates.values()]",
        "[*rates.values()]",
        [
            (
                "tests/experiments/test_experiment.py"
                "::test_parts_of_a_network_may_have_a_step_size_of_their_own"
            )
        ],
    ),
    (
        "records/_files.py",
        "if len(tensors) > MOST_TENSORS:",
        "if False:",
        ["tests/records/test_tensor_files.py::test_other_than_is_held_is_refused"],
    ),
    (
        "records/_files.py",
        "if 8 + len(header) + end != size:",
        "if False:",
        ["tests/records/test_tensor_files.py::test_other_than_is_held_is_refused"],
    ),
    (
        "reports/_tables/_html.py",
        "printable(value) if type(value) is str else value",
        "value",
        ["tests/reports/test_renderings.py::test_html_shows_no_sign_that_turns_the_reading_order"],
    ),
    (
        "cli/_main.py",
        "        command = _expanded(command)\n",
        "",
        ["tests/cli/test_arguments.py::test_a_tilde_in_an_option_is_the_home_folder"],
    ),
]
