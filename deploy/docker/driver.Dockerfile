# Spark's image with Rheostat in the driver's Python environment; executors use it as they use Spark's image.
#   docker build -f deploy/docker/driver.Dockerfile -t YOUR-REGISTRY/spark-rheostat .
# Other Spark versions: --build-arg SPARK_IMAGE=apache/spark:3.5.7-scala2.12-java17-python3-ubuntu
ARG SPARK_IMAGE=apache/spark:4.0.1-scala2.13-java17-python3-ubuntu
FROM ${SPARK_IMAGE}
USER 0
COPY . /src
RUN SETUPTOOLS_SCM_PRETEND_VERSION_FOR_RHEOSTAT=0 pip3 install --no-cache-dir "/src[serve,cli,kafka]" && rm -rf /src
COPY deploy/submit/rheostat_run.py /opt/rheostat/rheostat_run.py
# Spark's user and working directory; the entrypoint is inherited.
USER 185
