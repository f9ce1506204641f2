#!/bin/sh
# Chromium and a Chinese font for the tests of Neo4j Browser: installed where that may be done, else said to be missing.
# It never fails: the tests skip without Chromium, and fail in the CI.
missing() {
  for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && have=yes
  done
  [ "${have:-}" ] || echo chromium
  [ "$(fc-list :lang=zh 2>/dev/null)" ] || echo fonts-wqy-zenhei
}

packages=$(missing)
[ "$packages" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  echo "installing" $packages >&2
  apt-get update -qq >&2 && apt-get install -y -qq --no-install-recommends $packages >&2
fi
packages=$(missing)
[ "$packages" ] && echo "the tests of Neo4j Browser miss:" $packages "(Debian's names; install them to see the page)" >&2
exit 0
