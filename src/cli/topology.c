/* Draws the topology of a model as SVG.
 *
 * The picture consists of rows.  Even rows hold the ground and the bodies, in layers by the number
 * of joints that lead from the ground to them; odd rows hold the labels of the joints and forces.
 * An edge that spans several layers passes through the rows between.  So lines run only in the
 * gaps between two rows and never cross a box or a label.  Within rows the order follows the mean
 * place of the neighbours, as in K. Sugiyama, S. Tagawa, M. Toda: Methods for visual understanding
 * of hierarchical system structures (1981).  Each row then takes the places nearest to those of its
 * neighbours, in least squares, at which nothing overlaps.
 */
#include "cli/topology.h"

#include <stdlib.h>
#include <string.h>

#include "draw/plot/text.h"

enum { NAME_LENGTH = 28, TITLE_LENGTH = 80, TEXT_SIZE = POLI_TEXT_SIZE(TITLE_LENGTH) };
enum { NONE = -1, ORDER_SWEEPS = 12, PLACE_SWEEPS = 60 };

/* In pixels. */
static const double margin = 24, line_height = 17, font_size = 13, title_size = 16;
static const double item_gap = 22, row_gap = 22, body_height = 36, pass_width = 6;
static const double port_distance = 14;

typedef struct edge {
  const char *name, *type;
  int joint;   /* its index; NONE: a force or the drive of a marker */
  int node[2]; /* 0 the ground, 1 + i body i; the second is NONE if only one body is concerned */
} edge;

typedef enum item_kind { BODY, LABEL, PASS } item_kind;

/* What stands in a row. */
typedef struct item {
  item_kind kind;
  int index; /* of the node, else of the edge */
  int row, place;
  double x, width, height; /* x: of the centre */
  double key, sum;         /* of the neighbours that are looked at */
  int num_neighbours;
  int num_ports[2]; /* lines at the top and at the bottom */
} item;

/* A line from an item down to one in the next row. */
typedef struct link {
  int end[2]; /* items: upper, lower */
  int edge;
  double x[2];
  int group; /* for sorting: by group, then by key, then by number */
  double key;
  int number;
} link;

typedef struct diagram {
  const pol_mechanism *mechanism;
  int num_nodes, num_edges, num_items, num_links, num_rows;
  edge *edges;
  int *layers; /* of the nodes */
  item *items; /* the nodes come first */
  link *links; /* by rows: those below row r start at first_link[r] */
  int *first_link;
  item **order; /* by rows: row r starts at first_item[r], from left to right */
  int *first_item;
  double *row_top, *row_bottom;
  double *mean; /* work space of place_row */
  int *count;
  double width, height;
} diagram;

/* --- text ------------------------------------------------------------------------------------- */

static void put_escaped(FILE *file, const char *text)
{
  for (; *text != '\0'; text++) {
    const char *entity = poli_text_entity(*text);
    if (entity != NULL)
      fputs(entity, file);
    else
      putc(*text, file);
  }
}

/* "coupling gear: rotation" where the coupling acts on the joint at this end, else nothing */
static int describe_coupling(const pol_coupling *coupling, int end, int joint, char text[TEXT_SIZE])
{
  char name[TEXT_SIZE];
  if (coupling->joint[end] != joint) return 0;
  poli_text_shorten(coupling->name, NAME_LENGTH, name);
  snprintf(text, TEXT_SIZE, "coupling %.120s: %s", name,
           pol_coordinate_name(coupling->coordinate[end]));
  return 1;
}

/* "drive motor: rotation, speed" */
static void describe_drive(const pol_drive *drive, char text[TEXT_SIZE])
{
  char name[TEXT_SIZE];
  poli_text_shorten(drive->name, NAME_LENGTH, name);
  snprintf(text, TEXT_SIZE, "drive %.120s: %s, %s", name, pol_coordinate_name(drive->coordinate),
           pol_function_type_name(drive->function.type));
}

static const char *node_name(const diagram *d, int node)
{
  return node == 0 ? "ground" : pol_mechanism_body(d->mechanism, node - 1)->name;
}

/* --- the graph -------------------------------------------------------------------------------- */

static int marker_node(const diagram *d, int marker)
{
  return 1 + pol_mechanism_marker(d->mechanism, marker)->body; /* POL_GROUND is -1 */
}

static void collect_edges(diagram *d)
{
  for (int i = 0; i < pol_mechanism_num_joints(d->mechanism); i++) {
    const pol_joint *joint = pol_mechanism_joint(d->mechanism, i);
    d->edges[d->num_edges++] =
        (edge){.name = joint->name,
               .type = pol_joint_type_name(joint->type),
               .joint = i,
               .node = {marker_node(d, joint->marker[0]), marker_node(d, joint->marker[1])}};
  }
  for (int i = 0; i < pol_mechanism_num_forces(d->mechanism); i++) {
    const pol_force *force = pol_mechanism_force(d->mechanism, i);
    edge *e = &d->edges[d->num_edges++];
    *e = (edge){.name = force->name, .type = pol_force_type_name(force->type), .joint = NONE};
    if (force->type == POL_SPRING_DAMPER || force->type == POL_BUSHING) {
      for (int end = 0; end < 2; end++) e->node[end] = marker_node(d, force->marker[end]);
    } else if (force->type == POL_CALLBACK_FORCE) {
      for (int end = 0; end < 2; end++) e->node[end] = 1 + force->bodies[end];
    } else if (force->type == POL_JOINT_SPRING) {
      const pol_joint *joint = pol_mechanism_joint(d->mechanism, force->joint);
      for (int end = 0; end < 2; end++) e->node[end] = marker_node(d, joint->marker[end]);
    } else {
      e->node[0] = 1 + force->body;
      e->node[1] = force->type == POL_SUPPORT ? 0 : NONE;
    }
  }
  for (int i = 0; i < pol_mechanism_num_drives(d->mechanism); i++) {
    const pol_drive *drive = pol_mechanism_drive(d->mechanism, i);
    if (drive->joint != POL_NO_JOINT) continue;
    d->edges[d->num_edges++] =
        (edge){.name = drive->name,
               .type = "drive",
               .joint = NONE,
               .node = {marker_node(d, drive->marker[0]), marker_node(d, drive->marker[1])}};
  }
}

/* Layers of all nodes that joints connect to those in the queue, nearest first. */
static void spread_layers(diagram *d, int *queue, int head, int tail)
{
  for (; head < tail; head++) {
    for (int i = 0; i < d->num_edges && d->edges[i].joint != NONE; i++) {
      const int *node = d->edges[i].node;
      if (node[0] != queue[head] && node[1] != queue[head]) continue;
      const int other = node[0] == queue[head] ? node[1] : node[0];
      if (d->layers[other] != NONE) continue;
      d->layers[other] = d->layers[queue[head]] + 1;
      queue[tail++] = other;
    }
  }
}

/* The layer of a node is its distance from the ground in joints; where no joint leads to the
 * ground, the first body of the group is in layer 1. */
static void find_layers(diagram *d, int *queue)
{
  for (int i = 0; i < d->num_nodes; i++) d->layers[i] = NONE;
  for (int i = 0; i < d->num_nodes; i++) {
    if (d->layers[i] != NONE) continue;
    d->layers[i] = i == 0 ? 0 : 1;
    queue[0] = i;
    spread_layers(d, queue, 0, 1);
  }
}

/* --- rows ------------------------------------------------------------------------------------- */

static int add_item(diagram *d, item_kind kind, int index, int row)
{
  d->items[d->num_items] = (item){.kind = kind, .index = index, .row = row};
  if (row >= d->num_rows) d->num_rows = row + 1;
  return d->num_items++;
}

static void add_link(diagram *d, int upper, int lower, int edge_index)
{
  d->links[d->num_links] = (link){.end = {upper, lower}, .edge = edge_index};
  d->links[d->num_links].number = d->num_links;
  d->num_links++;
  d->items[upper].num_ports[1]++;
  d->items[lower].num_ports[0]++;
}

/* How many lines an edge consists of; it has at most as many items. */
static size_t count_links(const diagram *d, const edge *e)
{
  if (e->node[1] == NONE) return 1;
  const int span = abs(d->layers[e->node[0]] - d->layers[e->node[1]]);
  return span == 0 ? 2 : 2 * (size_t)span;
}

/* The label is below the upper node. */
static void add_edge_items(diagram *d, int index)
{
  const edge *e = &d->edges[index];
  int upper = e->node[0], lower = e->node[1];
  if (lower != NONE && d->layers[lower] < d->layers[upper]) {
    upper = e->node[1];
    lower = e->node[0];
  }
  int row = 2 * d->layers[upper] + 1;
  int last = add_item(d, LABEL, index, row);
  add_link(d, upper, last, index);
  if (lower == NONE) return;
  if (d->layers[lower] == d->layers[upper]) {
    add_link(d, lower, last, index);
    return;
  }
  for (row++; row < 2 * d->layers[lower]; row++) {
    const int pass = add_item(d, PASS, index, row);
    add_link(d, last, pass, index);
    last = pass;
  }
  add_link(d, last, lower, index);
}

static void size_item(const diagram *d, item *it)
{
  char text[TEXT_SIZE];
  double widest = 0;
  if (it->kind == PASS) {
    it->width = pass_width;
    return;
  }
  if (it->kind == BODY) {
    const int ports = it->num_ports[0] > it->num_ports[1] ? it->num_ports[0] : it->num_ports[1];
    poli_text_shorten(node_name(d, it->index), NAME_LENGTH, text);
    widest = poli_text_width(text, font_size) + 28;
    it->width = widest > port_distance * (ports + 1) ? widest : port_distance * (ports + 1);
    it->height = body_height;
    return;
  }
  const edge *e = &d->edges[it->index];
  poli_text_shorten(e->name, NAME_LENGTH, text);
  widest = poli_text_width(text, font_size);
  if (poli_text_width(e->type, font_size) > widest) widest = poli_text_width(e->type, font_size);
  it->height = 2 * line_height + 4;
  for (int i = 0; e->joint != NONE && i < pol_mechanism_num_drives(d->mechanism); i++) {
    const pol_drive *drive = pol_mechanism_drive(d->mechanism, i);
    if (drive->joint != e->joint) continue;
    describe_drive(drive, text);
    if (poli_text_width(text, font_size) + 16 > widest)
      widest = poli_text_width(text, font_size) + 16;
    it->height += line_height + 5;
  }
  for (int i = 0; e->joint != NONE && i < 2 * pol_mechanism_num_couplings(d->mechanism); i++) {
    const pol_coupling *coupling = pol_mechanism_coupling(d->mechanism, i / 2);
    if (!describe_coupling(coupling, i % 2, e->joint, text)) continue;
    if (poli_text_width(text, font_size) + 16 > widest)
      widest = poli_text_width(text, font_size) + 16;
    it->height += line_height + 5;
  }
  it->width = widest + 6;
}

static int compare_links(const void *a, const void *b)
{
  const link *x = a, *y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  if (x->key < y->key || x->key > y->key) return x->key < y->key ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

/* Lists the items and the links of each row, both in the order in which they were added. */
static void collect_rows(diagram *d)
{
  for (int i = 0; i < d->num_items; i++) d->first_item[d->items[i].row + 1]++;
  for (int i = 0; i < d->num_links; i++) {
    d->links[i].group = d->items[d->links[i].end[0]].row;
    d->first_link[d->links[i].group + 1]++;
  }
  for (int row = 0; row < d->num_rows; row++) {
    d->first_item[row + 1] += d->first_item[row];
    d->first_link[row + 1] += d->first_link[row];
  }
  qsort(d->links, (size_t)d->num_links, sizeof *d->links, compare_links);

  int *filled = d->count;
  memset(filled, 0, (size_t)d->num_rows * sizeof *filled);
  for (int i = 0; i < d->num_items; i++) {
    item *it = &d->items[i];
    it->place = filled[it->row]++;
    d->order[d->first_item[it->row] + it->place] = it;
  }
}

/* --- order and places ------------------------------------------------------------------------- */

static int compare_items(const void *a, const void *b)
{
  const item *x = *(item *const *)a, *y = *(item *const *)b;
  if (x->key < y->key || x->key > y->key) return x->key < y->key ? -1 : 1;
  return x->place < y->place ? -1 : x->place > y->place;
}

/* Adds to the items at one end of the links below a row what is at the other end. */
static void add_neighbours(diagram *d, int row, int end, int by_place)
{
  for (int i = d->first_link[row]; i < d->first_link[row + 1]; i++) {
    item *it = &d->items[d->links[i].end[end]];
    const item *other = &d->items[d->links[i].end[1 - end]];
    it->sum += by_place ? other->place : other->x;
    it->num_neighbours++;
  }
}

/* Sets the keys of a row to the mean place or x of the neighbours above, below, or both. */
static void set_keys(diagram *d, int row, int above, int below, int by_place)
{
  const int first = d->first_item[row], end = d->first_item[row + 1];
  for (int i = first; i < end; i++) {
    d->order[i]->sum = 0;
    d->order[i]->num_neighbours = 0;
  }
  if (above && row > 0) add_neighbours(d, row - 1, 1, by_place);
  if (below) add_neighbours(d, row, 0, by_place);
  for (int i = first; i < end; i++) {
    item *it = d->order[i];
    it->key = by_place ? it->place : it->x;
    if (it->num_neighbours > 0) it->key = it->sum / it->num_neighbours;
  }
}

static void sort_row(diagram *d, int row)
{
  const int first = d->first_item[row], end = d->first_item[row + 1];
  qsort(d->order + first, (size_t)(end - first), sizeof(item *), compare_items);
  for (int i = first; i < end; i++) d->order[i]->place = i - first;
}

/* x of a row: nearest to the keys in least squares without overlap.  With the distances that the
 * widths need taken off, x must only not decrease: neighbours that would are pooled at their
 * mean. */
static void place_row(diagram *d, int row)
{
  const int first = d->first_item[row], end = d->first_item[row + 1];
  int pools = 0;
  double offset = 0;
  for (int i = first; i < end; i++) {
    if (i > first) offset += (d->order[i - 1]->width + d->order[i]->width) / 2 + item_gap;
    d->mean[pools] = d->order[i]->key - offset;
    d->count[pools] = 1;
    for (pools++; pools > 1 && d->mean[pools - 2] > d->mean[pools - 1]; pools--) {
      const int a = d->count[pools - 2], b = d->count[pools - 1];
      d->mean[pools - 2] = (a * d->mean[pools - 2] + b * d->mean[pools - 1]) / (a + b);
      d->count[pools - 2] = a + b;
    }
  }
  offset = 0;
  for (int i = first, pool = 0; i < end; i++) {
    if (i > first) offset += (d->order[i - 1]->width + d->order[i]->width) / 2 + item_gap;
    if (d->count[pool] == 0) pool++;
    d->count[pool]--;
    d->order[i]->x = d->mean[pool] + offset;
  }
}

static void arrange(diagram *d)
{
  for (int sweep = 0; sweep < ORDER_SWEEPS; sweep++) {
    for (int i = 0; i < d->num_rows; i++) {
      const int down = sweep % 2 == 0, row = down ? i : d->num_rows - 1 - i;
      set_keys(d, row, down, !down, 1);
      sort_row(d, row);
    }
  }
  for (int i = 0; i < d->num_items; i++) d->items[i].x = 0;
  for (int sweep = 0; sweep < PLACE_SWEEPS; sweep++) {
    const int down = sweep % 2 == 0, both = sweep >= PLACE_SWEEPS / 2;
    for (int i = 0; i < d->num_rows; i++) {
      const int row = down ? i : d->num_rows - 1 - i;
      set_keys(d, row, down || both, !down || both, 0);
      place_row(d, row);
    }
  }
}

/* Where the lines leave (end 0) or reach (end 1) the items: side by side, in the order of what is
 * at their other ends. */
static void spread_ports(diagram *d, int end)
{
  for (int i = 0; i < d->num_links; i++) {
    d->links[i].group = d->links[i].end[end];
    d->links[i].key = d->items[d->links[i].end[1 - end]].x;
  }
  qsort(d->links, (size_t)d->num_links, sizeof *d->links, compare_links);
  for (int i = 0, port = 0; i < d->num_links; i++) {
    const item *it = &d->items[d->links[i].end[end]];
    port = i > 0 && d->links[i - 1].group == d->links[i].group ? port + 1 : 0;
    d->links[i].x[end] = it->x + it->width * ((port + 1.0) / (it->num_ports[1 - end] + 1) - 0.5);
  }
}

/* Moves the picture to the margins and finds the heights of the rows.  Gaps are higher where lines
 * go far to the side. */
static void fit(diagram *d, double title_width)
{
  double left = 0, right = 0, y = margin + (title_width > 0 ? 2 * line_height : 0);
  for (int i = 0; i < d->num_items; i++) {
    const item *it = &d->items[i];
    if (i == 0 || it->x - it->width / 2 < left) left = it->x - it->width / 2;
    if (i == 0 || it->x + it->width / 2 > right) right = it->x + it->width / 2;
  }
  const double extra = title_width > right - left ? (title_width - (right - left)) / 2 : 0;
  for (int i = 0; i < d->num_items; i++) d->items[i].x += margin + extra - left;
  d->width = right - left + 2 * (margin + extra);

  for (int row = 0; row < d->num_rows; row++) {
    double height = 0, farthest = 0;
    for (int i = d->first_item[row]; i < d->first_item[row + 1]; i++)
      if (d->order[i]->height > height) height = d->order[i]->height;
    for (int i = d->first_link[row]; i < d->first_link[row + 1]; i++) {
      const int *ends = d->links[i].end;
      const double aside = d->items[ends[0]].x - d->items[ends[1]].x;
      if (aside > farthest || -aside > farthest) farthest = aside > 0 ? aside : -aside;
    }
    d->row_top[row] = y;
    d->row_bottom[row] = y + height;
    y += height + row_gap + (farthest < 400 ? farthest : 400) / 10;
    if (row == d->num_rows - 1) d->height = d->row_bottom[row] + margin;
  }
}

/* --- drawing ---------------------------------------------------------------------------------- */

static const char style[] =
    "<style>\n"
    "text { font-family: Helvetica, Arial, sans-serif; text-anchor: middle; fill: #1b2733; }\n"
    ".paper { fill: #ffffff; }\n"
    ".body { fill: #e8eef5; stroke: #41566e; stroke-width: 1.5; }\n"
    ".ground { fill: #c9cfd6; stroke: #41566e; stroke-width: 1.5; }\n"
    ".drive { fill: #fff1d6; stroke: #b06a00; }\n"
    ".joint { fill: none; stroke: #41566e; stroke-width: 1.5; }\n"
    ".force { fill: none; stroke: #8a3b12; stroke-width: 1.5; stroke-dasharray: 5 4; }\n"
    ".head { fill: #8a3b12; }\n"
    ".type { fill: #56677a; font-style: italic; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "text { fill: #e6ebf0; }\n"
    ".paper { fill: #14191f; }\n"
    ".body { fill: #263545; stroke: #9db2c9; }\n"
    ".ground { fill: #454d57; stroke: #9db2c9; }\n"
    ".drive { fill: #4a3510; stroke: #e5a53d; }\n"
    ".joint { stroke: #9db2c9; }\n"
    ".force { stroke: #e39a6f; }\n"
    ".head { fill: #e39a6f; }\n"
    ".type { fill: #a9b7c6; }\n"
    "}\n"
    "</style>\n";

static double item_top(const diagram *d, const item *it)
{
  return (d->row_top[it->row] + d->row_bottom[it->row] - it->height) / 2;
}

/* The full text shows where the mouse rests. */
static void put_tip(FILE *file, const char *text)
{
  fputs("<title>", file);
  put_escaped(file, text);
  fputs("</title>", file);
}

static void put_line(FILE *file, double x, double y, const char *class, const char *text)
{
  fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
  put_escaped(file, text);
  fputs("</text>\n", file);
}

/* Straight down to the end of the row, bent to the next row, straight down to the item. */
static void draw_link(FILE *file, const diagram *d, const link *l)
{
  const item *upper = &d->items[l->end[0]], *lower = &d->items[l->end[1]];
  const edge *e = &d->edges[l->edge];
  const double from = d->row_bottom[upper->row], to = d->row_top[lower->row];
  const double start = item_top(d, upper) + upper->height, middle = (from + to) / 2;
  fprintf(file, "<path class=\"%s\" d=\"M%.1f %.1fV%.1fC%.1f %.1f %.1f %.1f %.1f %.1fV%.1f\"/>\n",
          e->joint == NONE ? "force" : "joint", l->x[0], start, from, l->x[0], middle, l->x[1],
          middle, l->x[1], to, item_top(d, lower));
  if (e->node[1] == NONE)
    fprintf(file, "<path class=\"head\" d=\"M%.1f %.1fl-4 9h8z\"/>\n", l->x[0], start);
}

/* A box; that of a point mass is round at its ends. */
static void draw_body(FILE *file, const diagram *d, const item *it)
{
  char text[TEXT_SIZE];
  const double top = item_top(d, it);
  const int point = it->index > 0 && pol_mechanism_body(d->mechanism, it->index - 1)->point;
  fputs("<g>", file);
  put_tip(file, node_name(d, it->index));
  fprintf(file,
          "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\"/>\n",
          it->index == 0 ? "ground" : "body", it->x - it->width / 2, top, it->width, it->height,
          point ? 18 : 8);
  poli_text_shorten(node_name(d, it->index), NAME_LENGTH, text);
  put_line(file, it->x, top + it->height / 2 + 4.5, "name", text);
  fputs("</g>\n", file);
}

/* What acts on a joint, in a frame below its name and type. */
static void draw_pill(FILE *file, double x, double y, const char *tip, const char *text)
{
  const double width = poli_text_width(text, font_size) + 16;
  fputs("<g>", file);
  put_tip(file, tip);
  fprintf(file,
          "<rect class=\"drive\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
          "rx=\"9\"/>\n",
          x - width / 2, y - 13.5, width, line_height + 2);
  put_line(file, x, y, "name", text);
  fputs("</g>\n", file);
}

static void draw_label(FILE *file, const diagram *d, const item *it)
{
  const edge *e = &d->edges[it->index];
  char text[TEXT_SIZE];
  double y = item_top(d, it) + line_height - 2;
  fputs("<g>", file);
  put_tip(file, e->name);
  poli_text_shorten(e->name, NAME_LENGTH, text);
  put_line(file, it->x, y, "name", text);
  put_line(file, it->x, y += line_height, "type", e->type);
  fputs("</g>\n", file);
  for (int i = 0; e->joint != NONE && i < pol_mechanism_num_drives(d->mechanism); i++) {
    const pol_drive *drive = pol_mechanism_drive(d->mechanism, i);
    if (drive->joint != e->joint) continue;
    describe_drive(drive, text);
    draw_pill(file, it->x, y += line_height + 5, drive->name, text);
  }
  for (int i = 0; e->joint != NONE && i < 2 * pol_mechanism_num_couplings(d->mechanism); i++) {
    const pol_coupling *coupling = pol_mechanism_coupling(d->mechanism, i / 2);
    if (describe_coupling(coupling, i % 2, e->joint, text))
      draw_pill(file, it->x, y += line_height + 5, coupling->name, text);
  }
}

static void draw(FILE *file, const diagram *d, const char *title)
{
  char text[TEXT_SIZE];
  fprintf(file,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
          "viewBox=\"0 0 %.0f %.0f\" font-size=\"%.0f\">\n",
          d->width, d->height, d->width, d->height, font_size);
  put_tip(file, title[0] != '\0' ? title : "Topology");
  fprintf(file, "\n%s<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n", style);
  if (title[0] != '\0') {
    poli_text_shorten(title, TITLE_LENGTH, text);
    fprintf(file, "<g font-size=\"%.0f\" font-weight=\"bold\">", title_size);
    put_line(file, d->width / 2, margin + 10, "name", text);
    fputs("</g>\n", file);
  }
  for (int i = 0; i < d->num_links; i++) draw_link(file, d, &d->links[i]);
  for (int i = 0; i < d->num_items; i++) {
    if (d->items[i].kind == BODY) draw_body(file, d, &d->items[i]);
    if (d->items[i].kind == LABEL) draw_label(file, d, &d->items[i]);
  }
  fputs("</svg>\n", file);
}

/* --- all together ----------------------------------------------------------------------------- */

static void clear(diagram *d)
{
  free(d->edges);
  free(d->layers);
  free(d->items);
  free(d->links);
  free(d->first_link);
  free(d->order);
  free(d->first_item);
  free(d->row_top);
  free(d->row_bottom);
  free(d->mean);
  free(d->count);
}

static pol_status collect_graph(diagram *d)
{
  d->num_nodes = 1 + pol_mechanism_num_bodies(d->mechanism);
  const int most = pol_mechanism_num_joints(d->mechanism) + pol_mechanism_num_forces(d->mechanism) +
                   pol_mechanism_num_drives(d->mechanism);
  d->edges = calloc((size_t)most + 1, sizeof *d->edges);
  d->layers = calloc((size_t)d->num_nodes, sizeof *d->layers);
  int *queue = calloc((size_t)d->num_nodes, sizeof *queue);
  const pol_status status =
      d->edges != NULL && d->layers != NULL && queue != NULL ? POL_OK : POL_NO_MEMORY;
  if (status == POL_OK) {
    collect_edges(d);
    find_layers(d, queue);
  }
  free(queue);
  return status;
}

static pol_status allocate_rows(diagram *d)
{
  size_t links = 0, rows = 2;
  for (int i = 0; i < d->num_edges; i++) links += count_links(d, &d->edges[i]);
  for (int i = 0; i < d->num_nodes; i++)
    if (2 * (size_t)d->layers[i] + 2 > rows) rows = 2 * (size_t)d->layers[i] + 2;
  const size_t items = (size_t)d->num_nodes + links, work = items > rows ? items : rows;
  d->items = calloc(items, sizeof *d->items);
  d->links = calloc(links + 1, sizeof *d->links);
  d->first_link = calloc(rows + 1, sizeof *d->first_link);
  d->order = calloc(items, sizeof *d->order);
  d->first_item = calloc(rows + 1, sizeof *d->first_item);
  d->row_top = calloc(rows, sizeof *d->row_top);
  d->row_bottom = calloc(rows, sizeof *d->row_bottom);
  d->mean = calloc(work, sizeof *d->mean);
  d->count = calloc(work, sizeof *d->count);
  return d->items && d->links && d->first_link && d->order && d->first_item && d->row_top &&
                 d->row_bottom && d->mean && d->count
             ? POL_OK
             : POL_NO_MEMORY;
}

static void lay_out(diagram *d, const char *title)
{
  char text[TEXT_SIZE];
  for (int i = 0; i < d->num_nodes; i++) add_item(d, BODY, i, 2 * d->layers[i]);
  for (int i = 0; i < d->num_edges; i++) add_edge_items(d, i);
  for (int i = 0; i < d->num_items; i++) size_item(d, &d->items[i]);
  collect_rows(d);
  arrange(d);
  poli_text_shorten(title, TITLE_LENGTH, text);
  fit(d, poli_text_width(text, title_size));
  for (int end = 0; end < 2; end++) spread_ports(d, end);
}

pol_status cli_topology_write(FILE *file, const pol_model *model)
{
  diagram d = {.mechanism = model->mechanism};
  pol_status status = collect_graph(&d);
  if (status == POL_OK) status = allocate_rows(&d);
  if (status == POL_OK) {
    lay_out(&d, model->name);
    draw(file, &d, model->name);
    if (fflush(file) != 0 || ferror(file)) status = POL_IO;
  }
  clear(&d);
  return status;
}
