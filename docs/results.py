"""Makes the pages of results from the exports: `python docs/results.py`."""

from pathlib import Path

from farfield.reports.internal import results_pages

CHECKOUT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Write every page."""
    folder = CHECKOUT / "docs" / "results"
    folder.mkdir(exist_ok=True)
    for name, content in results_pages(CHECKOUT / "results").items():
        (folder / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
