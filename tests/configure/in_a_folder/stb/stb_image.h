// stb_image - v2.27 - its folder of headers as far as the configure step reads it.
