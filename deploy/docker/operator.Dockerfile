# The operator's image. Build it from the root of the repository:
#   docker build --file deploy/docker/operator.Dockerfile --tag rheostat-operator .
FROM python:3.12-slim AS built
COPY pyproject.toml README.md LICENSE /src/
COPY requirements/lock.txt /src/requirements/
COPY src /src/src
ENV SETUPTOOLS_SCM_PRETEND_VERSION_FOR_RHEOSTAT=0
RUN python -m venv /opt/rheostat \
 && /opt/rheostat/bin/pip install --no-cache-dir --constraint /src/requirements/lock.txt "/src[operator]"

FROM python:3.12-slim
# The operator creates the certificate of its metrics server with openssl.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends openssl \
 && rm -rf /var/lib/apt/lists/*
COPY --from=built /opt/rheostat /opt/rheostat
USER 10001
ENTRYPOINT ["/opt/rheostat/bin/rheostat"]
CMD ["operator", "run"]
