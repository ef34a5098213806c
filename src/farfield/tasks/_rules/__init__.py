"""Abstract rules over images of glyphs, after webb2021."""
