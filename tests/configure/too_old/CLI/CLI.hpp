// CLI11 as far as the configure step reads it.
