"""Speed of the library beside a straightforward loop, and the loop itself."""
