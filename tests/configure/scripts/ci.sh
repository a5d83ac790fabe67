#!/usr/bin/env bash
# ci.sh CHECKOUT: which steps .ci/run leaves out, with what reason, and what makes it fail. Other scripts stand for those that
# it runs; 124 is how timeout says that time has passed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/.ci" "$work/scripts"
cp "$1/.ci/run" "$work/.ci/run"
for name in test fuzz tidy; do printf '#!/bin/sh\necho "ran %s"\n' $name >"$work/scripts/$name"; done
cat >"$work/scripts/in-debian" <<'END'
#!/bin/sh
case $4 in
  *install_packages*) exit "$PACKAGES" ;;
  *configure_and_build*) exit "$BUILD" ;;
  *ctest*) echo "ran the tests of Debian 13" && exit "$TESTS" ;;
esac
END
chmod +x "$work"/scripts/*

# run STATUS TEXT [NAME=VALUE...]: .ci/run ends with STATUS and prints TEXT.
run() {
  local wanted=$1 text=$2 status=0 output
  shift 2
  output=$(env -u TENON_DEBIAN PACKAGES=0 BUILD=0 TESTS=0 SECONDS=1200 "$@" bash "$work/.ci/run" 2>&1) || status=$?
  if [ $status -eq "$wanted" ] && grep -q "$text" <<<"$output"; then return; fi
  printf 'with %s it ends with %s, and not with %s and "%s":\n%s\n' "$*" $status "$wanted" "$text" "$output" >&2
  exit 1
}
run 0 'ran the tests of Debian 13'
run 0 'ran tidy'
run 0 'Debian 13, whose root cannot be made' PACKAGES=1
run 0 'ran tidy' PACKAGES=1
run 0 'root and packages were not there after 12 minutes' PACKAGES=124
run 0 'whose build was not finished in 30 minutes' BUILD=124
run 0 'ran tidy' BUILD=124
run 1 'ran fuzz' BUILD=1
run 0 'tests of Debian 13, where everything compiles: they were not finished' TESTS=124
run 8 'ran the tests of Debian 13' TESTS=8
run 0 'Debian 13, as it takes 25 minutes or more here and 15 are left' SECONDS=2100
run 0 'scripts/fuzz, as it takes 6 minutes or more and 2 are left' SECONDS=3180
run 0 'scripts/tidy, as it takes 2 minutes or more and 0 are left' SECONDS=4000
