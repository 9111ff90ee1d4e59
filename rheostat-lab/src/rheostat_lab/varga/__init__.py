"""The measurements of Varga, Balassi and Kiss (2021), section 5, repeated on Spark: what a change
of size costs against the size of the state and against the parallelism.
"""
