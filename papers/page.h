/* The reports of a run as one page. */
#ifndef POLHODE_PAPERS_PAGE_H
#define POLHODE_PAPERS_PAGE_H

#include "papers/reproduce.h"

/* How many reports have each verdict. */
typedef struct paper_tally {
  int reproduced, statements, shown, differs, not_comparable, failed;
} paper_tally;

paper_tally paper_tally_reports(const json_t *reports);

/* Writes a self-contained HTML page with all reports (an array of the objects of reproduce.h, in
 * the order of the catalogue).  POL_IO: errno says why where the system does. */
pol_status paper_page_write(const json_t *reports, double seconds, const char *path);
/* The same with verdicts, what was tested and reasons only, as a page in Markdown. */
pol_status paper_verdicts_write(const json_t *reports, const char *path);

#endif
