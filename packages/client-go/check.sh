#!/bin/sh
# What test.sh does, and staticcheck, which is fetched on its first run.
set -eu
cd "$(dirname "$0")"
./test.sh
test -z "$(gofmt -l .)" || { gofmt -l . && exit 1; }
go run honnef.co/go/tools/cmd/staticcheck@2026.2.2 ./...
(cd bench && go vet ./... && go run honnef.co/go/tools/cmd/staticcheck@2026.2.2 ./...)
