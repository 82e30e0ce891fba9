# Runs once, inside a new image, after its packages and /opt are in place.
set -eu

useradd --uid 1000 --user-group --create-home --home-dir /home/user --shell /bin/bash user
install -d -o user -g user /workspace

# People type vim; the small one goes by another name.
if [ -x /usr/bin/vim.tiny ] && [ ! -e /usr/bin/vim ]; then
    ln -s vim.tiny /usr/bin/vim
fi

# The root is read-only when the image runs: without this, every start of a Python server would compile it again.
if [ -n "$(find /opt -name '*.py' -print -quit)" ]; then
    python3 -m compileall -q /opt > /dev/null || true
fi
