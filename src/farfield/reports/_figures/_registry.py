"""Every figure, by name."""

from __future__ import annotations

from typing import Final

from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._figures import _gondal2021 as gondal2021
from farfield.reports._figures import _lamb2022 as lamb2022
from farfield.reports._figures import _ren2017 as ren2017
from farfield.reports._figures import _ren2017_images as ren2017_images
from farfield.reports._figures import _webb2020 as webb2020
from farfield.reports._figures import _webb2021 as webb2021

FIGURES: Final[dict[str, Figure]] = {
    figure.table.key: figure
    for figure in (
        gondal2021.FIGURE_3,
        gondal2021.FIGURE_4,
        gondal2021.FIGURE_5A,
        gondal2021.FIGURE_5B,
        gondal2021.FIGURE_5C,
        gondal2021.FIGURE_6,
        gondal2021.FIGURE_7,
        gondal2021.FIGURE_8,
        lamb2022.FIGURE_2,
        lamb2022.FIGURE_3,
        lamb2022.DORMANT_PHASES,
        lamb2022.SPIRAL,
        lamb2022.BOUNDARIES,
        lamb2022.FLAT,
        lamb2022.NEIGHBORS_OF,
        lamb2022.NEIGHBORS_NARROW,
        ren2017.FIGURE_2,
        ren2017.FIGURE_3,
        ren2017.FIGURE_3_NARROW,
        ren2017.FIGURE_5,
        ren2017.FIGURE_5_NARROW,
        ren2017.FIGURE_6,
        ren2017.FIGURE_6_NARROW,
        lamb2022.SAMPLES,
        ren2017_images.FIGURE_4_IMAGES,
        ren2017_images.FIGURE_7_IMAGES,
        ren2017_images.T91_IMAGES,
        lamb2022.READS,
        lamb2022.AGENTS,
        webb2020.FIGURE_S1,
        webb2020.FIGURE_S2,
        webb2020.FIGURE_S3,
        webb2020.FIGURE_S4,
        webb2020.FIGURE_S5,
        webb2020.FIGURE_S6,
        webb2020.FIGURE_S7,
        webb2020.FIGURE_S8,
        webb2021.FIGURE_3,
        webb2021.FIGURE_4,
        webb2021.FIGURE_5,
        webb2021.FIGURE_6,
        webb2021.FIGURE_7,
        webb2021.FIGURE_8,
        webb2021.FIGURE_9,
    )
}
"""Every figure, by name."""
