"""Makes the pages of claims against text, from the claims themselves: `python docs/claims.py`."""

from pathlib import Path

from farfield.reports.internal import settings_pages


def main() -> None:
    """Write every page."""
    folder = Path(__file__).parent / "claims"
    folder.mkdir(exist_ok=True)
    for name, content in settings_pages().items():
        (folder / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
