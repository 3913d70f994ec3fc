#!/bin/sh
# Keeps the vault in step with a repository, for the profile `git` of compose.yaml: clone, then commit, pull and push again and again.
set -u
seconds="${GIT_SECONDS:-60}"

if [ ! -d .git ]; then
    if [ -z "${GIT_URL:-}" ]; then
        echo "Set GIT_URL to the repository of the vault." >&2
        exit 2
    fi
    git clone "$GIT_URL" . || exit 1
fi

while true; do
    git add --all
    git diff --cached --quiet || git commit --quiet --message "Notes of $(date -u +%Y-%m-%dT%H:%MZ)"
    # a merge that does not work out is given up, so that no note gets marks of a conflict
    git pull --quiet --no-rebase --no-edit || git merge --abort 2>/dev/null
    git push --quiet || echo "git push failed; the next round tries again" >&2
    [ "$seconds" = 0 ] && exit 0
    sleep "$seconds"
done
