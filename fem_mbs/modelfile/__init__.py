"""Model files (TOML): schema, reading, reference and starter."""
