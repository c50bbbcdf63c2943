# evalpipe with all that its PDF needs. Build it from a clone; the working folder of a run is /work:
#
#     docker build -t evalpipe .
#     docker run --rm --user "$(id -u):$(id -g)" --network none -v "$PWD:/work" evalpipe run spec.yaml
FROM python:3.13-slim-bookworm AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY evalpipe evalpipe
COPY templates templates
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim-bookworm
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      libpango-1.0-0=1.* libpangoft2-1.0-0=1.* libharfbuzz-subset0=6.* fonts-noto-core=2* \
 && rm -rf /var/lib/apt/lists/*
COPY .ci/requirements.lock /tmp/requirements.lock
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --require-hashes -r /tmp/requirements.lock \
 && pip install --no-cache-dir --no-deps /wheels/*.whl \
 && rm -r /wheels /tmp/requirements.lock
WORKDIR /work
ENV HOME=/tmp
ENTRYPOINT ["evalpipe"]
CMD ["--help"]
