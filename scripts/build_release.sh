#!/usr/bin/env bash
# The files of a release, into the given folder: an sdist and a wheel of each distribution.
# Needs python3 (3.11 or newer) and node with npm. What builds is installed with its hashes checked.
set -euo pipefail
out=$(realpath -m -- "${1:?usage: bash scripts/build_release.sh FOLDER}")
cd "$(dirname "$0")/.."
tools=$(mktemp -d)
trap 'rm -rf -- "$tools"' EXIT
python3 -m venv "$tools"
"$tools/bin/python" requirements/install.py --constraint requirements/constraints.txt hatchling
for folder in . site contrib/*; do
  (cd "$folder" && "$tools/bin/python" -m hatchling build --target sdist --target wheel --directory "$out")
done
cd "$out" && sha256sum -- *.whl *.tar.gz
