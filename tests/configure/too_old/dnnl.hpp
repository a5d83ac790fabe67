// oneDNN's folder of headers as far as the configure step reads it.
