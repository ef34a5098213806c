"""A local page in the browser: claims, profiles, problems, trained networks, runs under way."""

try:
    from farfield.explorer._app import application as application
    from farfield.explorer._app import serve as serve
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"the explorer needs {error.name}: pip install 'farfield[web]'", name=error.name
    ) from error

__all__ = ["application", "serve"]
