# Abseil as far as the configure step reads it.
set(absl_FOUND TRUE)
