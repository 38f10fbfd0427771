/* The pages: as HTML, and, verdicts only, as Markdown.
 *
 * The page in HTML has a head with styles for light and dark, a summary, a table of contents, then
 * the items.
 *
 * Figures are inline SVG in light colours; in the dark, style rules replace each colour of the
 * light theme by that of the dark one.  The ids of a figure get the id of its item, so that they
 * differ.
 */
#include "papers/page.h"

#include <string.h>

#include "draw/plot/canvas.h"
#include "draw/plot/text.h"

/* --- texts ------------------------------------------------------------------------------------ */

/* Writes with the characters replaced that HTML reads. */
static void put(FILE *file, const char *text)
{
  for (; *text != '\0'; text++) {
    const char *entity = poli_text_entity(*text);
    if (entity != NULL)
      fputs(entity, file);
    else
      fputc(*text, file);
  }
}

static void put_in(FILE *file, const char *tag, const char *text)
{
  fprintf(file, "<%s>", tag);
  put(file, text);
  fprintf(file, "</%s>\n", tag);
}

/* An SVG whose ids, c1, c2, ..., are made unique by a prefix. */
static void put_svg(FILE *file, const char *svg, const char *id, const char *name)
{
  static const char *const marks[] = {"id=\"", "url(#"};
  while (*svg != '\0') {
    const char *next = NULL;
    size_t length = 0;
    for (int i = 0; i < 2; i++) {
      const char *found = strstr(svg, marks[i]);
      if (found != NULL && (next == NULL || found < next)) next = found, length = strlen(marks[i]);
    }
    if (next == NULL) break;
    fwrite(svg, 1, (size_t)(next - svg) + length, file);
    fprintf(file, "%s-%s-", id, name);
    svg = next + length;
  }
  fputs(svg, file);
}

/* --- the head --------------------------------------------------------------------------------- */

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1f2328;--page:#fff;--soft:#57606a;--line:#d8dee4;"
    "--good:#1a7f37;--other:#9a6700;--none:#57606a;--bad:#cf222e}\n"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);"
    "max-width:60rem;margin:0 auto;padding:1rem}\n"
    "h1{font-size:1.7rem}h2{font-size:1.35rem;margin-top:3rem;border-bottom:1px solid var(--line)}"
    "h3{font-size:1.1rem;margin-top:2.5rem}\n"
    "a{color:inherit}.soft,figcaption,caption{color:var(--soft)}caption{text-align:left;white-"
    "space:nowrap}\n"
    "table{border-collapse:collapse;display:block;overflow-x:auto;margin:1rem 0;font-size:.9rem}\n"
    "th,td{padding:.15rem .7rem;border-bottom:1px solid var(--line);text-align:left;"
    "font-variant-numeric:tabular-nums}\n"
    ".numbers td,.short{white-space:nowrap}\n"
    "figure{margin:1rem 0}svg{max-width:100%;height:auto}\n"
    ".reproduced,.statements{color:var(--good)}.shown{color:var(--none)}.differs{color:var(--other)"
    "}.not{color:var(--none)}"
    ".failed{color:var(--bad)}.verdict{font-weight:600}\n"
    "blockquote{margin:1rem 0;padding-left:1rem;border-left:3px solid var(--line)}\n";

/* The rules that turn one colour of figures into another. */
static void put_color(FILE *file, unsigned light, unsigned dark)
{
  fprintf(file, "svg [stroke=\"#%06x\"]{stroke:#%06x}svg [fill=\"#%06x\"]{fill:#%06x}\n", light,
          dark, light, dark);
}

static void put_head(FILE *file)
{
  const poli_theme *light = &poli_themes[0], *dark = &poli_themes[1];
  fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>Published results, repeated by polhode</title>\n<style>\n",
        file);
  fputs(style, file);
  fputs("@media (prefers-color-scheme:dark){\n"
        ":root{--ink:#e6edf3;--page:#0f1419;--soft:#8b949e;--line:#2a313a;"
        "--good:#3fb950;--other:#d29922;--none:#8b949e;--bad:#f85149}\n",
        file);
  put_color(file, light->background, dark->background);
  put_color(file, light->text, dark->text);
  put_color(file, light->frame, dark->frame);
  put_color(file, light->grid, dark->grid);
  for (int i = 0; i < POL_PLOT_COLORS; i++) put_color(file, light->palette[i], dark->palette[i]);
  fputs("}\n</style>\n</head>\n<body>\n", file);
}

/* --- summary and contents --------------------------------------------------------------------- */

paper_tally paper_tally_reports(const json_t *reports)
{
  paper_tally tally = {0};
  size_t i;
  json_t *report;
  json_array_foreach(reports, i, report)
  {
    const char *verdict = paper_json_text(report, "verdict");
    tally.reproduced += strcmp(verdict, "reproduced") == 0;
    tally.statements += strcmp(verdict, "statements hold") == 0;
    tally.shown += strcmp(verdict, "shown only") == 0;
    tally.differs += strcmp(verdict, "differs") == 0;
    tally.not_comparable += strcmp(verdict, "not comparable") == 0;
    tally.failed += strcmp(verdict, "failed") == 0;
  }
  return tally;
}

/* The style of a verdict is its first word. */
static void put_verdict(FILE *file, const json_t *report)
{
  const char *verdict = paper_json_text(report, "verdict");
  fprintf(file, "<span class=\"verdict %.*s\">%s</span>", (int)strcspn(verdict, " "), verdict,
          verdict);
}

static void put_summary(FILE *file, const json_t *reports, double seconds)
{
  const paper_tally tally = paper_tally_reports(reports);
  fprintf(file,
          "<h1>Published results, repeated by polhode</h1>\n"
          "<p>polhode %s, %.0f s. %zu of the %d items ran: <span class=\"reproduced\">reproduced: "
          "%d</span>, <span class=\"statements\">statements hold, without a number: %d</span>, "
          "shown only: %d, <span class=\"differs\">differ: %d</span>, not comparable: %d",
          pol_version(), seconds, json_array_size(reports), paper_item_catalogued(),
          tally.reproduced, tally.statements, tally.shown, tally.differs, tally.not_comparable);
  if (tally.failed > 0)
    fprintf(file, ", <span class=\"failed\">could not run: %d</span>", tally.failed);
  fprintf(file,
          ".</p>\n"
          "<p class=\"soft\">All numbers and figures come from runs of this program. A verdict "
          "follows from the checks below each item. Each check states what it compares with: a "
          "published number with a given tolerance, a statement of the paper, or a solution of "
          "our own. Reproduced means that all checks agree and at least one of them compares with "
          "a published number.</p>\n");
}

static void put_contents(FILE *file, const json_t *reports)
{
  size_t i;
  json_t *report;
  fputs("<table>\n<tr><th>item</th><th>what</th><th>verdict</th></tr>\n", file);
  json_array_foreach(reports, i, report)
  {
    const char *id = paper_json_text(report, "id");
    fprintf(file, "<tr><td><a href=\"#%s\">%s</a></td><td>", id, id);
    put(file, paper_json_text(report, "title"));
    fputs("</td><td>", file);
    put_verdict(file, report);
    fputs("</td></tr>\n", file);
  }
  fputs("</table>\n", file);
}

/* --- items ------------------------------------------------------------------------------------ */

/* Texts of at most so many characters stay on one line, so that no number is torn apart. */
enum { SHORT = 20 };

static void put_cells(FILE *file, const char *tag, const json_t *cells)
{
  size_t i;
  json_t *cell;
  fputs("<tr>", file);
  json_array_foreach(cells, i, cell)
  {
    const char *text = json_string_value(cell);
    fprintf(file, strlen(text) <= SHORT ? "<%s class=\"short\">" : "<%s>", tag);
    put(file, text);
    fprintf(file, "</%s>", tag);
  }
  fputs("</tr>\n", file);
}

static void put_block(FILE *file, const char *id, const json_t *block)
{
  const char *kind = paper_json_text(block, "kind");
  if (strcmp(kind, "text") == 0) {
    put_in(file, "p", paper_json_text(block, "text"));
  } else if (strcmp(kind, "table") == 0) {
    size_t i;
    json_t *row;
    fputs("<table class=\"numbers\">", file);
    put_in(file, "caption", paper_json_text(block, "title"));
    put_cells(file, "th", json_object_get(block, "columns"));
    json_array_foreach(json_object_get(block, "rows"), i, row) put_cells(file, "td", row);
    fputs("</table>\n", file);
  } else {
    fputs("<figure>\n", file);
    put_svg(file, paper_json_text(block, "svg"), id, paper_json_text(block, "name"));
    put_in(file, "figcaption", paper_json_text(block, "caption"));
    fputs("</figure>\n", file);
  }
}

/* Whether a check agrees, and if not why; a reason that the last one had is not told twice. */
static void put_outcome(FILE *file, const json_t *check, const char *last_why)
{
  const int passed = json_is_true(json_object_get(check, "passed"));
  const char *why = paper_json_text(check, "why");
  const int again = why[0] != '\0' && strcmp(why, last_why) == 0;
  fprintf(file, "<td class=\"%s\">%s", passed ? "reproduced" : "differs",
          passed ? "agrees" : "differs");
  fputs(again ? ", as above" : why[0] != '\0' ? ": " : "", file);
  if (!again) put(file, why);
  fputs("</td></tr>\n", file);
}

static void put_checks(FILE *file, const json_t *checks)
{
  const char *last_why = "";
  size_t i;
  json_t *check;
  if (json_array_size(checks) == 0) return;
  fputs("<table><caption>Checks</caption>\n"
        "<tr><th>what</th><th>ours</th><th>published</th><th>compared with</th><th></th></tr>\n",
        file);
  json_array_foreach(checks, i, check)
  {
    static const char *const cells[] = {"what", "ours", "published", "against"};
    fputs("<tr>", file);
    for (int k = 0; k < 4; k++) {
      const char *text = paper_json_text(check, cells[k]);
      fputs(strlen(text) <= SHORT ? "<td class=\"short\">" : "<td>", file);
      put(file, text);
      fputs("</td>", file);
    }
    put_outcome(file, check, last_why);
    last_why = paper_json_text(check, "why");
  }
  fputs("</table>\n", file);
}

static void put_item(FILE *file, const json_t *report)
{
  size_t i;
  json_t *block;
  const char *id = paper_json_text(report, "id");
  fprintf(file, "<h3 id=\"%s\">%s: ", id, id);
  put(file, paper_json_text(report, "title"));
  fputs("</h3>\n<p>", file);
  put_verdict(file, report);
  fprintf(file, "%s", paper_json_text(report, "reason")[0] != '\0' ? ": " : "");
  put(file, paper_json_text(report, "reason"));
  fprintf(file, " <span class=\"soft\">(%.1f s)</span></p>\n<p>Tested: ",
          json_number_value(json_object_get(report, "seconds")));
  put(file, paper_json_text(report, "tested"));
  fputs("</p>\n<blockquote>Published: ", file);
  put(file, paper_json_text(report, "published"));
  fputs("</blockquote>\n", file);
  json_array_foreach(json_object_get(report, "blocks"), i, block) put_block(file, id, block);
  put_checks(file, json_object_get(report, "checks"));
}

static void put_items(FILE *file, const json_t *reports)
{
  const paper_publication *paper;
  for (int k = 0; (paper = paper_at(k)) != NULL; k++) {
    size_t i;
    json_t *report;
    int items = 0;
    json_array_foreach(reports, i, report)
    {
      if (strcmp(paper_json_text(report, "paper"), paper->id) != 0) continue;
      if (items++ == 0) {
        put_in(file, "h2", paper->id);
        put_in(file, "p", paper->citation);
      }
      put_item(file, report);
    }
  }
}

pol_status paper_page_write(const json_t *reports, double seconds, const char *path)
{
  FILE *file = fopen(path, "w");
  if (file == NULL) return POL_IO;
  put_head(file);
  put_summary(file, reports, seconds);
  put_contents(file, reports);
  put_items(file, reports);
  fputs("</body>\n</html>\n", file);
  const int bad = ferror(file);
  return fclose(file) != 0 || bad ? POL_IO : POL_OK;
}

/* --- Markdown --------------------------------------------------------------------------------- */

/* Writes with the characters escaped that Markdown reads in a table. */
static void put_cell(FILE *file, const char *text)
{
  for (; *text != '\0'; text++) {
    if (strchr("|*_<", *text) != NULL) fputc('\\', file);
    fputc(*text, file);
  }
}

pol_status paper_verdicts_write(const json_t *reports, const char *path)
{
  const paper_tally tally = paper_tally_reports(reports);
  size_t i;
  json_t *report;
  FILE *file = fopen(path, "w");
  if (file == NULL) return POL_IO;
  fprintf(file,
          "# Verdicts of polhode reproduce\n\n"
          "Of %zu items, %d are reproduced; for %d the statements hold; %d are shown only; %d "
          "differ; %d "
          "are not\ncomparable; %d could not run. `polhode reproduce` generates this page (polhode "
          "%s). "
          "\"Reproduced\" means that\nall checks agree and at least one of them compares with a "
          "published number. If a paper prints no number,\nits statements are tested; if it makes "
          "none, "
          "the only comparison is with a solution of our own.\n\n"
          "| item | what | verdict | tested | why |\n|---|---|---|---|---|\n",
          json_array_size(reports), tally.reproduced, tally.statements, tally.shown, tally.differs,
          tally.not_comparable, tally.failed, pol_version());
  json_array_foreach(reports, i, report)
  {
    fprintf(file, "| `%s` | ", paper_json_text(report, "id"));
    put_cell(file, paper_json_text(report, "title"));
    fprintf(file, " | %s | ", paper_json_text(report, "verdict"));
    put_cell(file, paper_json_text(report, "tested"));
    fputs(" | ", file);
    put_cell(file, paper_json_text(report, "reason"));
    fputs(" |\n", file);
  }
  const int bad = ferror(file);
  return fclose(file) != 0 || bad ? POL_IO : POL_OK;
}
