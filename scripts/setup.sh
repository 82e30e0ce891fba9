#!/usr/bin/env bash
# Installs what is missing and nothing else; the second run takes a second or two.
#   .venv                   Python packages, pinned by requirements.lock
#   an engine               Docker where it runs or may be installed (root, Debian or Ubuntu), else bubblewrap
#   sandbox images          for that engine; with --tests for both engines
#   ~/.cache/worldtape      a tokenizer, and the images for bubblewrap ($WORLDTAPE_CACHE moves it)
set -euo pipefail
cd "$(dirname "$0")/.."
cache="${WORLDTAPE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/worldtape}"
mkdir -p "$cache"

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
is_root() { [ "$(id -u)" = 0 ]; }
can_apt() { is_root && command -v apt-get >/dev/null; }

# Says so and returns 1 where it cannot: not all that is installed here is needed.
apt_install() {
    say "installing $* from the distribution"
    # A list of packages that was never fetched knows none of them.
    if ! DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >"$cache/apt.log" 2>&1; then
        apt-get update -qq >"$cache/apt.log" 2>&1 || true
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >"$cache/apt.log" 2>&1 || {
            say "apt-get install $* failed; its last words are in $cache/apt.log"
            return 1
        }
    fi
}

# A name on PATH may be a version manager's shim that does not run: ask each one.
newest_python() {
    local name
    for name in python3.14 python3.13 python3.12 python3.11 python3; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
    return 1
}

python_environment() {
    local wanted python
    wanted=$(cat pyproject.toml requirements.lock | sha256sum | cut -c1-16)
    [ -x .venv/bin/worldtape ] && [ "$(cat .venv/installed 2>/dev/null)" = "$wanted" ] && return
    python=$(newest_python) || fail "there is no Python 3.11 or newer; run: apt-get install python3"
    if ! "$python" -c 'import ensurepip' 2>/dev/null; then
        can_apt && apt_install python3-venv || fail "Python's venv is missing; run: apt-get install python3-venv"
    fi
    say "installing the Python packages into .venv (a few minutes the first time)"
    [ -x .venv/bin/python ] || "$python" -m venv .venv
    pip_install --upgrade 'pip>=25.1'
    pip_install -c requirements.lock -e '.[all]' --group dev
    echo "$wanted" >.venv/installed
}

pip_install() {
    .venv/bin/python -m pip install --quiet --disable-pip-version-check "$@" 2>"$cache/pip.log" ||
        fail "pip install $* failed: $(grep -m1 ERROR "$cache/pip.log") (the rest is in $cache/pip.log)"
}

docker_answers() { .venv/bin/python -c 'import docker; docker.from_env(timeout=5).ping()' 2>/dev/null; }

start_docker() {
    local daemon=
    say "starting the Docker engine"
    if [ -d /run/systemd/system ]; then
        systemctl start docker || return 1
    else
        setsid nohup dockerd >"$cache/dockerd.log" 2>&1 </dev/null &
        daemon=$!
    fi
    for _ in $(seq 60); do
        docker_answers && return 0
        [ -z "$daemon" ] || kill -0 "$daemon" 2>/dev/null || break
        sleep 0.5
    done
    say "the Docker engine does not answer; its last words are in $cache/dockerd.log"
    return 1
}

container_engine() {
    docker_answers && { engine=docker; return; }
    if can_apt; then
        command -v dockerd >/dev/null || apt_install docker.io || true
        command -v dockerd >/dev/null && start_docker && { engine=docker; return; }
        command -v bwrap >/dev/null || apt_install bubblewrap || true
    fi
    command -v bwrap >/dev/null || fail "no container engine; run as root: apt-get install docker.io  (or: apt-get install bubblewrap)"
    say "Docker does not answer here, or not to this user: the sandboxes run under bubblewrap"
    engine=bubblewrap
}

python_environment
container_engine
if can_apt; then
    command -v bwrap >/dev/null || apt_install bubblewrap || true
    command -v mmdebstrap >/dev/null || apt_install mmdebstrap || true
    command -v npm >/dev/null || apt_install npm || true
fi
.venv/bin/worldtape images build --engine "$engine" >/dev/null
if [ "${1:-}" = --tests ] && command -v bwrap >/dev/null; then
    .venv/bin/worldtape images build --engine bubblewrap >/dev/null
fi
scripts/fetch_tokenizer.sh
