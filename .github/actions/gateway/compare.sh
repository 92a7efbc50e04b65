#!/bin/bash
# Compares access with BASE, writes annotations, a SARIF log and one comment, and fails by FAIL_ON.
# `compare.sh github` and `compare.sh gitlab` differ only in the annotations and in where the comment goes.
set -euo pipefail
platform=$1
here=$(cd "$(dirname "$0")" && pwd)
case $FAIL_ON in opens | differences | never) ;; *)
  echo "error: fail-on is opens, differences or never, not \"$FAIL_ON\"" >&2
  exit 2
  ;;
esac

sides=(--git "$BASE")
if [ -n "${RENDER:-}" ]; then sides+=(--render "$RENDER"); else sides+=("$CONFIG"); fi

report=$(mktemp -d)
trap 'rm -rf "$report"' EXIT

# The platform's token is for the comment only.
status=0
env -u GITHUB_TOKEN -u GITLAB_TOKEN $GWC diff "${sides[@]}" --format markdown --exit-code > "$report/diff.md" || status=$?
case $status in 0 | 4 | 5) ;; *)
  if [ "$platform" = github ]; then echo "::error title=gwc diff::access was not compared with $BASE; the log of this step has the reason"; fi
  exit "$status"
  ;;
esac

if [ "$platform" = github ]; then
  env -u GITHUB_TOKEN $GWC diff "${sides[@]}" --format github
else
  env -u GITLAB_TOKEN $GWC diff "${sides[@]}" --format text
fi
if [ -n "${SARIF:-}" ]; then env -u GITHUB_TOKEN -u GITLAB_TOKEN $GWC diff "${sides[@]}" --format sarif > "$SARIF"; fi
env -u GITHUB_TOKEN -u GITLAB_TOKEN $GWC graph "${sides[@]}" > "$report/graph.mmd"

if [ "${COMMENT:-true}" = true ]; then
  node "$here/comment.mjs" "$platform" "$report/diff.md" "$report/graph.mmd" "${RENDER:-$CONFIG}"
fi
case $FAIL_ON/$status in
  opens/5 | differences/4 | differences/5)
    echo "error: this change has differences that fail-on: $FAIL_ON refuses" >&2
    exit 1
    ;;
esac
