# Shared by the scripts of this folder: find a Python that will do, make the virtual environment, install into it.

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 2; }

# may_apt: whether this user can install Debian packages without being asked anything.
may_apt() { command -v apt-get >/dev/null 2>&1 && { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

# apt_install PACKAGE…: install them, or say the line that would and stop.
apt_install() {
  if may_apt; then
    say "installing with apt: $*"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
  else
    die "missing here: $*. This line installs them: sudo apt-get install $*"
  fi
}

# python: the name of an interpreter that is new enough.
find_python() {
  for name in "${PYTHON:-python3}" python3.13 python3.12 python3.11 python3; do
    if command -v "$name" >/dev/null 2>&1 &&
      "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      printf '%s\n' "$name"
      return
    fi
  done
  return 1
}

# make_venv EXTRAS: .venv with this project in it, made once and brought up to date when pyproject.toml changes.
make_venv() {
  python=$(find_python) || {
    command -v python3 >/dev/null 2>&1 && die "Python 3.11 or newer is needed; python3 here is older"
    apt_install python3 python3-venv
    python=$(find_python) || die "Python 3.11 or newer is needed; this system's packages have an older one"
  }
  if ! [ -x .venv/bin/pip ]; then
    "$python" -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
    say "making the virtual environment .venv"
    "$python" -m venv .venv
  fi
  stamp=".venv/installed$1"
  if ! cmp -s pyproject.toml "$stamp"; then
    say "installing the project into .venv"
    .venv/bin/pip install --quiet --disable-pip-version-check --editable ".$1"
    cp pyproject.toml "$stamp"
  fi
  PATH="$PWD/.venv/bin:$PATH"
  export PATH
}
