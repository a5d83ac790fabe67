#!/usr/bin/env bash
# in_debian.sh CHECKOUT: what scripts/in-debian leaves where mmdebstrap fails. Other programs stand for those that need root.
set -euo pipefail
script=$1/scripts/in-debian
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TENON_DEBIAN=$work/debian CCACHE_DIR=$work/cache
mkdir "$work/bin"
export PATH=$work/bin:$PATH
# stand_in NAME TEXT: a program of that name.
stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1" && chmod +x "$work/bin/$1"; }
stand_in dpkg-query 'echo install ok installed'
stand_in chroot :
stand_in ccache 'echo "$CCACHE_DIR"'
stand_in unshare "echo \"\$@\" >'$work/unshared'"
fail() { echo "$*" >&2 && exit 1; }

making='for folder do :; done; mkdir -p "$folder/etc" "$folder/usr/local/share"'
stand_in mmdebstrap "$making; exit 1"
if bash "$script" trixie true >/dev/null; then fail "a root that cannot be made is no failure"; fi
if [ -e "$TENON_DEBIAN/trixie/root" ]; then fail "half a root is left"; fi

stand_in mmdebstrap "$making"
bash "$script" trixie true >/dev/null || fail "it does not start again after a failure"
[ -d "$TENON_DEBIAN/trixie/root/tenon" ] || fail "there is no root"
[ ! -e "$TENON_DEBIAN/trixie/root.part" ] || fail "the unfinished root is left"
[ -d "$CCACHE_DIR" ] || fail "there is no folder for ccache"
grep -q "$CCACHE_DIR true" "$work/unshared" || fail "the folder of ccache is not mounted"

stand_in mmdebstrap 'exit 1'
bash "$script" trixie true >/dev/null || fail "a root is made twice"
