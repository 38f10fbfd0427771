#!/bin/sh
# Builds the site of the docs into build/site: the pages of docs/, and the C interface from the comments
# of the public headers.  Links to headers become links to their pages.  A link that leads nowhere is an
# error.
set -eu
cd "$(dirname "$0")/.."

pages=build/site-pages
rm -rf "$pages"
mkdir -p "$pages"
cp -R docs/. "$pages"
for page in "$pages"/*.md; do
  sed -i -e 's|](\.\./include/polhode)|](api/index.html)|g' \
    -e 's|](\.\./include/polhode/\([a-z_]*\)\.h)|](api/\1_8h.html)|g' "$page"
done
(cat docs/Doxyfile; echo WARN_IF_UNDOCUMENTED = NO) | PAGES=$pages doxygen -
mkdocs build --strict --quiet
printf '%s\n' "==> the site is build/site; open build/site/index.html in a browser"
