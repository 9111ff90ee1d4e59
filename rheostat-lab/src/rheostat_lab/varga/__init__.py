"""The measurements of Varga, Balassi and Kiss (2021), section 5, repeated on Spark: the cost of a
change of size by the size of the state and by the parallelism.
"""
