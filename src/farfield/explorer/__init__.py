"""A local page in the browser: claims, profiles, problems, trained networks, runs under way."""

from farfield.explorer._app import application as application
from farfield.explorer._app import serve as serve

__all__ = ["application", "serve"]
