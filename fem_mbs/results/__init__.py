"""Result files: writing, reading and export."""
