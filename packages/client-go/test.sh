#!/bin/sh
# Runs the library's tests: with the race detector where a C compiler is, which it needs.
set -eu
cd "$(dirname "$0")"
go vet ./...
if command -v cc >/dev/null 2>&1; then
  CGO_ENABLED=1 go test -race -count=1 ./...
else
  go test -count=1 ./...
fi
