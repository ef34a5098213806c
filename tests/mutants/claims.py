"""Mutants of metrics, reproductions and reports."""

MUTANTS = [
    (
        "metrics/_intervals.py",
        "shifted.std(ddof=1)",
        "shifted.std(ddof=0)",
        ["tests/metrics/test_intervals.py::test_mean_and_standard_error_are_scipy_s"],
    ),
    (
        "reproductions/_verdicts.py",
        "if not low >= sign * published.goal:",
        "if not mean_and_standard_error(turned).mean >= sign * published.goal:",
        ["tests/reproductions/test_verdicts.py::test_a_goal_is_reached_by_the_whole_interval"],
    ),
    (
        "reproductions/_verdicts.py",
        "    if low <= sign * floor:",
        "    if False:",
        [
            "tests/reproductions/test_verdicts.py::test_a_goal_is_not_reached_at_the_floor",
            "tests/reproductions/test_verdicts.py::test_a_goal_for_an_error_is_better_than_the_floor",
        ],
    ),
    (
        "reproductions/_verdicts.py",
        "    if gone or ours is None:",
        "    if ours is None:",
        [
            "tests/reproductions/test_verdicts.py::test_a_network_that_diverged_is_named_and_left_out_of_the_mean"
        ],
    ),
    (
        "reproductions/_verdicts.py",
        "if record.diverged(claim.regime) is None]",
        "if True]",
        [
            "tests/reproductions/test_verdicts.py::test_a_network_that_diverged_is_named_and_left_out_of_the_mean"
        ],
    ),
    (
        "reproductions/_verdicts.py",
        "    if claim.rule.is_wide(difference):",
        "    if False:",
        [
            "tests/reproductions/test_verdicts.py::test_an_interval_wider_than_ten_points_says_too_little"
        ],
    ),
    (
        "reproductions/_published.py",
        "else spread_half / self._divisor,",
        "else spread_half,",
        [
            "tests/reproductions/test_claims.py::test_a_standard_deviation_becomes_the_standard_error_of_its_runs"
        ],
    ),
    (
        "training/_divergence.py",
        "torch.where(losses.isfinite(), 0, since)",
        "since.where(~losses.isfinite(), before.to(losses.device))",
        [
            "tests/training/test_divergence.py::test_a_loss_that_is_finite_again_starts_the_count_anew"
        ],
    ),
    (
        "training/_loop.py",
        "        since=tuple(since.tolist()),",
        "        since=(0,) * len(since),",
        ["tests/training/test_divergence.py::test_the_step_survives_a_stop"],
    ),
    (
        "reports/_tables/_levels.py",
        "            if self._folder is not None:",
        "            if False:",
        ["tests/reports/test_levels.py::test_a_ceiling_is_measured_once_and_kept"],
    ),
    (
        "reports/_export/_export.py",
        '            score["value"] = str(score["value"])',
        '            score["value"] = "nan"',
        ["tests/reports/test_export.py::test_networks_that_diverged_come_back_as_they_were"],
    ),
    (
        "reproductions/webb2021/_tables.py",
        "slow = not normalized and name in subject.slower",
        "slow = name in subject.slower",
        ["tests/reproductions/test_webb2021.py::test_training_is_the_paper_s"],
    ),
    (
        "reproductions/webb2021/_tables.py",
        "epochs = subject.longer.get(name, subject.epochs)[column]",
        "epochs = subject.epochs[column]",
        ["tests/reproductions/test_webb2021.py::test_training_is_the_paper_s"],
    ),
    (
        "metrics/_accuracy.py",
        "(logit < 0)",
        "(logit <= 0)",
        ["tests/metrics/test_accuracy.py::test_one_output_answers_by_its_sign"],
    ),
    (
        "metrics/_accuracy.py",
        "right.mean(-1)",
        "right.mean(0)",
        ["tests/metrics/test_accuracy.py::test_each_seed_has_its_own_accuracy"],
    ),
    (
        "metrics/_intervals.py",
        "0.5 + confidence / 2",
        "confidence",
        ["tests/metrics/test_intervals.py::test_t_interval_is_scipy_s"],
    ),
    (
        "metrics/_intervals.py",
        "noise += square**2 / (side.count - 1)",
        "noise += square**2 / side.count",
        ["tests/metrics/test_intervals.py::test_welch_interval_is_scipy_s"],
    ),
    (
        "metrics/_intervals.py",
        "side.standard_error**2 + side.error_rounding**2 / 3",
        "side.standard_error**2",
        ["tests/metrics/test_intervals.py::test_a_printed_zero_is_not_an_error_of_zero"],
    ),
    (
        "metrics/_intervals.py",
        "if math.isnan(ours.standard_error) or math.isnan(theirs.standard_error):",
        "if math.isnan(ours.standard_error):",
        ["tests/metrics/test_intervals.py::test_one_network_says_nothing_of_the_spread"],
    ),
    (
        "reproductions/_published.py",
        "0.5 * 10.0**-digits",
        "10.0**-digits",
        [
            "tests/reproductions/test_claims.py::test_rounding_of_print_is_half_a_unit_of_the_last_digit"
        ],
    ),
    (
        "reproductions/_claims.py",
        "others=(*self.others, *left_out)",
        "others=self.others",
        [
            "tests/reproductions/test_claims.py::test_cells_left_out_stay_at_hand_for_comparison",
            "tests/reports/test_report.py::test_the_order_is_judged_against_cells_that_are_not_shown",
        ],
    ),
    (
        "reproductions/_claims.py",
        "return self._fixed(own) == self._fixed(other)",
        "return True",
        [
            "tests/reproductions/test_verdicts.py::test_records_that_do_not_belong_are_refused",
            "tests/reports/test_results.py::test_records_of_another_experiment_are_refused",
        ],
    ),
    (
        "reproductions/_verdicts.py",
        "if len(records) < runs else []",
        "if len(records) < 2 else []",
        [
            "tests/reproductions/test_verdicts.py::test_three_seeds_are_underpowered_whatever_they_say"
        ],
    ),
    (
        "reproductions/_claims.py",
        "            if steps < paper\n",
        "            if steps < paper // 2\n",
        [
            "tests/reproductions/test_verdicts.py::test_fewer_steps_are_underpowered_whatever_they_say"
        ],
    ),
    (
        "reproductions/_rule.py",
        "and abs(difference.value) <= allowed",
        "",
        ["tests/reproductions/test_verdicts.py::test_our_noise_does_not_hide_a_difference"],
    ),
    (
        "reproductions/_rule.py",
        "and difference.interval.half_width <= self.reach * allowed",
        "",
        ["tests/reproductions/test_verdicts.py::test_wild_scatter_does_not_pass_for_a_quiet_cell"],
    ),
    (
        "reproductions/_rule.py",
        "max(self.margin, self.noise * standard_error)",
        "self.margin",
        ["tests/reproductions/test_verdicts.py::test_noise_is_not_called"],
    ),
    (
        "reproductions/_rule.py",
        "if difference.interval.within(self.margin):\n            return True",
        "",
        ["tests/reproductions/test_verdicts.py::test_a_clear_difference_inside_the_margin_is_none"],
    ),
    (
        "reproductions/_verdicts.py",
        "if not own.clear or (own.value > 0) != (theirs.value > 0):",
        "if (own.value > 0) != (theirs.value > 0):",
        ["tests/reproductions/test_verdicts.py::test_an_order_that_is_not_clear_does_not_hold"],
    ),
    (
        "reproductions/_verdicts.py",
        "(own.value > 0) != (theirs.value > 0)",
        "False",
        ["tests/reproductions/test_verdicts.py::test_one_row_out_of_order_is_not_reproduced"],
    ),
    (
        "reproductions/_verdicts.py",
        "if not records or _lack(other, records):",
        "if not records:",
        ["tests/reproductions/test_verdicts.py::test_the_order_needs_the_other_rows_in_full"],
    ),
    (
        "reproductions/_verdicts.py",
        "place = (claim.home, claim.group, claim.column, claim.metric)",
        "place = (claim.home, claim.group, other.column, claim.metric)",
        ["tests/reproductions/test_verdicts.py::test_the_order_is_that_of_one_column"],
    ),
    (
        "reproductions/webb2021/_tables.py",
        "context=Spec(ContextNorm) if normalized else None,",
        "context=Spec(ContextNorm),",
        ["tests/reproductions/test_webb2021.py::test_a_claim_is_about_what_its_place_says"],
    ),
    (
        "reproductions/webb2021/_print.py",
        "training=(10_000, 10_000, 10_000, 480)",
        "training=(10_000, 10_000, 10_000, 500)",
        ["tests/reproductions/test_webb2021.py::test_the_task_draws_that_many_training_problems"],
    ),
    (
        "reports/_tables/_report.py",
        "if seeds is None or record.seed < seeds",
        "if True",
        ["tests/reports/test_report.py::test_records_come_from_a_store"],
    ),
    (
        "reports/_tables/_text.py",
        'return text.replace("-", "−")',
        "return text",
        ["tests/reports/test_renderings.py::test_signs"],
    ),
    (
        "reports/_tables/_terminal.py",
        "yield grid if fits else _narrow(report, options.max_width)",
        "yield grid",
        ["tests/reports/test_renderings.py::test_the_terminal_shows_every_number_whole"],
    ),
    (
        "reports/_tables/_terminal.py",
        "names_apart = len(_padded(headings, widths)) > width",
        "names_apart = False",
        [
            "tests/reports/test_renderings.py::test_a_narrow_terminal_has_the_numbers_of_a_cell_in_one_line_however_long_its_name"
        ],
    ),
    (
        "reports/_tables/_html.py",
        "autoescape=True",
        "autoescape=False",
        ["tests/reports/test_renderings.py::test_html_takes_names_as_text_and_not_as_markup"],
    ),
    (
        "reports/_profile/_panels.py",
        "interval = t_interval(row.values, row.claim.rule.confidence)",
        "interval = t_interval(row.values, 0.5)",
        ["tests/reports/test_profiles.py::test_intervals_are_those_of_the_numbers"],
    ),
    (
        "reports/_profile/_panels.py",
        "yerr=None if across else error",
        "yerr=None if across else 2 * number.spread",
        ["tests/reports/test_profiles.py::test_intervals_are_those_of_the_numbers"],
    ),
    (
        "reports/_profile/_panels.py",
        "return (score, place) if across else (place, score)",
        "return place, score",
        ["tests/reports/test_profiles.py::test_many_models_stand_one_below_another"],
    ),
    (
        "reports/_profile/_profiles.py",
        '{"svg.hashsalt": "farfield", "svg.fonttype": "path"}',
        "{}",
        ["tests/reports/test_profiles.py::test_pictures_are_the_same_bytes_each_time"],
    ),
    (
        "reports/_export/_export.py",
        'if not text.endswith(b"\\n"):',
        "if not text:",
        ["tests/reports/test_export.py::test_damaged_lines_are_named"],
    ),
    (
        "reports/_export/_export.py",
        "ordered = sorted(lines, key=lambda line: line.place)",
        "ordered = list(lines)",
        ["tests/reports/test_export.py::test_the_same_records_give_the_same_bytes"],
    ),
    (
        "reports/_export/_export.py",
        "(load_export(path) if path.exists() else [])",
        "[]",
        ["tests/reports/test_export.py::test_other_runs_stay_and_the_same_run_is_replaced"],
    ),
    (
        "reproductions/_claims.py",
        '        if self.metric == "loss":',
        "        if False:",
        ["tests/reports/test_report.py::test_a_loss_has_the_floor_and_the_ceiling_of_a_loss"],
    ),
    (
        "reports/_tables/_report.py",
        "tuned=table.tuned,",
        "tuned=None,",
        ["tests/reports/test_results.py::test_what_was_tuned_stands_above_the_table"],
    ),
    (
        "reports/_export/_results.py",
        "printed and table.steps_printed",
        "printed",
        ["tests/reports/test_results.py::test_steps_that_the_paper_does_not_say_are_planned_ones"],
    ),
    (
        "reports/_export/_results.py",
        "name if len(some) == counts[name] else",
        "name if True else",
        ["tests/reports/test_results.py::test_a_machine_of_some_columns_is_named_with_these"],
    ),
    (
        "reports/_export/_images.py",
        "free = {name: task[name] for name in claim.free if name in task}",
        "free = {}",
        ["tests/reports/test_results.py::test_other_images_have_sections_of_their_own"],
    ),
    (
        "reports/_exhibits/_difference_plate.py",
        "if math.isnan(test.t):",
        "if math.isinf(test.t):",
        ["tests/reports/test_plates.py::test_equal_rows_have_no_statistic"],
    ),
    (
        "reproductions/lamb2022/_cores.py",
        '"no communication": _rims(6, 4, 600, wiring=Wiring(communication=None))',
        '"no communication": _rims(6, 4, 600, wiring=Wiring())',
        ["tests/reproductions/test_lamb2022.py::test_mechanisms_are_wired_as_the_row_says"],
    ),
    (
        "reproductions/lamb2022/_cores.py",
        "AS_ANSWERED: Final = _rims(5, 3, 510, wiring=Wiring.released())",
        "AS_ANSWERED: Final = _rims(5, 2, 510, wiring=Wiring.released())",
        ["tests/reproductions/test_lamb2022.py::test_mechanisms_are_wired_as_the_row_says"],
    ),
    (
        "reproductions/lamb2022/_dispute.py",
        "DROPOUT: Final = 0.5",
        "DROPOUT: Final = 0.2",
        [
            "tests/reproductions/test_lamb2022.py::test_networks_of_the_dispute_are_set_up_as_the_released_scripts_are"
        ],
    ),
    (
        "reproductions/lamb2022/_dispute.py",
        "EVERYWHERE: Final = Copying()",
        "EVERYWHERE: Final = _copying.TASK",
        ["tests/reproductions/test_lamb2022.py::test_losses_of_the_dispute_are_over_all_places"],
    ),
    (
        "reproductions/gondal2021/_matrices.py",
        "places_std=PLACES_STD) | NORMALIZED",
        "places_std=1.0) | NORMALIZED",
        [
            "tests/reproductions/test_gondal2021.py::test_only_small_networks_have_quiet_places_and_a_narrow_kernel"
        ],
    ),
    (
        "reports/_export/_export.py",
        "(claim.cell, claim.at(budget).key)",
        "(claim.cell, claim.at(Budget.PAPER).key)",
        [
            "tests/cli/test_commands.py::test_a_report_is_made_from_exported_text_as_from_the_records"
        ],
    ),
    (
        "reproductions/_comparisons.py",
        "float(np.std(found, ddof=1))",
        "float(np.std(found))",
        ["tests/reproductions/test_statements.py::test_deviations_are_over_the_parts_of_a_score"],
    ),
    (
        "reproductions/_comparisons.py",
        "np.mean(rows, axis=0).tolist()",
        "np.ravel(rows).tolist()",
        [
            "tests/reproductions/test_statements.py::test_cells_of_the_same_networks_are_averaged_network_by_network"
        ],
    ),
    (
        "reproductions/_comparisons.py",
        "return claim.published.scale - value",
        "return value",
        ["tests/reproductions/test_statements.py::test_a_ratio_of_errors_has_its_interval"],
    ),
    (
        "reproductions/_statements.py",
        "if above or below:",
        "if above and below:",
        ["tests/reproductions/test_statements.py::test_verdicts_on_a_ratio"],
    ),
    (
        "reproductions/webb2021/_statements.py",
        "pair[::-1] if",
        "pair if",
        [
            "tests/reproductions/test_statements.py::test_what_is_said_follows_from_the_printed_cells"
        ],
    ),
    (
        "reports/_export/_figure_export.py",
        "        and network.digest in _digests(folder, network.table)\n",
        "",
        [
            "tests/reports/test_figure_export.py::test_what_was_found_in_single_networks_stays_beside_that_of_others"
        ],
    ),
    (
        "reports/_profile/_panels.py",
        "if len(row.values) >= FEWEST:",
        "if len(row.values) > 1:",
        ["tests/reports/test_profiles.py::test_intervals_are_of_three_networks_or_more"],
    ),
]
