"""Mutants of the analyses: keys, their overlap, time courses, paired tests, and their pictures."""

MUTANTS = [
    (
        "analysis/_time_courses.py",
        "set.intersection(*(",
        "set.union(*(",
        [
            "tests/analysis/test_time_courses.py::test_only_points_that_all_networks_have_count",
        ],
    ),
    (
        "analysis/_time_courses.py",
        "below[-1] + 1 if below else 0",
        "below[0] + 1 if below else 0",
        ["tests/analysis/test_time_courses.py::test_a_course_has_settled_where_it_stays"],
    ),
    (
        "analysis/_time_courses.py",
        "if not mean >= level",
        "if mean < level",
        ["tests/analysis/test_time_courses.py::test_a_course_has_settled_where_it_stays"],
    ),
    (
        "analysis/_keys.py",
        "torch.arange(length) > torch.arange(first)",
        "torch.arange(length) >= torch.arange(first)",
        ["tests/analysis/test_keys.py::test_keys_are_those_of_algorithm_1_at_the_right_places"],
    ),
    (
        "analysis/_keys.py",
        "recalled=keys.read.gather(",
        "recalled=keys.written.gather(",
        ["tests/analysis/test_keys.py::test_keys_are_those_of_algorithm_1_at_the_right_places"],
    ),
    (
        "analysis/_key_overlap.py",
        "    return first + (keys.double() - first).mean(0)\n",
        "    return keys.double().mean(0)\n",
        ["tests/analysis/test_keys.py::test_keys_that_are_constant_overlap_completely"],
    ),
    (
        "analysis/_key_overlap.py",
        "(near < far) + 0.5 * (near == far)",
        "(near <= far)",
        ["tests/analysis/test_keys.py::test_keys_that_are_constant_overlap_completely"],
    ),
    (
        "analysis/_key_overlap.py",
        "((0, 1), (1, 0))",
        "((0, 0), (1, 1))",
        ["tests/analysis/test_keys.py::test_overlap_is_that_of_its_definition"],
    ),
    (
        "analysis/_key_overlap.py",
        "torch.pdist(means[:first])",
        "torch.pdist(means)",
        ["tests/analysis/test_keys.py::test_overlap_is_that_of_its_definition"],
    ),
    (
        "analysis/_principal_components.py",
        "axes=axes * largest.sign(),",
        "axes=axes,",
        [
            "tests/analysis/test_keys.py::test_principal_components_are_the_directions_of_most_variance"
        ],
    ),
    (
        "metrics/_paired_test.py",
        "p = 2 * float(",
        "p = float(",
        ["tests/metrics/test_paired_test.py::test_it_is_student_s"],
    ),
    (
        "metrics/_paired_test.py",
        "(differences - differences[0]).std(ddof=1)",
        "(differences - differences[0]).std(ddof=0)",
        ["tests/metrics/test_paired_test.py::test_it_is_what_a_table_says"],
    ),
]
