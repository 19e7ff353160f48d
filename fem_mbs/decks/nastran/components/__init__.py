"""What a Nastran deck says of single components: scalar masses, and the components of a reduction."""
