#!/bin/sh
# Builds the site of the docs into build/site: the pages of docs/, the pages of the gallery as
# animations, and the C interface from the comments of the public headers.  Links to headers become
# links to their pages, screenshots of animations become the animations.  A link that leads nowhere is
# an error.
#
#   scripts/site.sh POLHODE
set -eu
cd "$(dirname "$0")/.."
polhode=$1

pages=build/site-pages
katex=/usr/share/javascript/katex
rm -rf "$pages"
mkdir -p "$pages/katex"
cp -R docs/. "$pages"
cp -RL "$katex/katex.min.css" "$katex/katex.min.js" "$katex/contrib/auto-render.js" "$katex/fonts" \
  "$pages/katex"
cp scripts/site/site.css scripts/site/site.js "$pages"
scripts/site/live_pages.py "$polhode" "$pages"
for page in "$pages"/*.md; do
  sed -i -e 's|](\.\./include/polhode)|](api/index.html)|g' \
    -e 's|](\.\./include/polhode/\([a-z_]*\)\.h)|](api/\1_8h.html)|g' "$page"
done
(cat docs/Doxyfile; echo WARN_IF_UNDOCUMENTED = NO) | PAGES=$pages doxygen -
mkdocs build --strict --quiet
printf '%s\n' "==> the site is build/site; open build/site/index.html in a browser"
