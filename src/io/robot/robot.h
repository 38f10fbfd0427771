/* Descriptions of robots in XML (URDF, MJCF) as models: the parts that both formats share.
 *
 * A description is a tree of links.  Links that are fixed to each other become one body, with the
 * name of the first of them and with markers in place of the others; its mass and inertia are the
 * sum.  The result is the JSON tree of a model file, which the reader of models checks as any
 * other.
 */
#ifndef POLHODE_IO_ROBOT_H
#define POLHODE_IO_ROBOT_H

#include <jansson.h>
#include <libxml/tree.h>

#include <polhode/robot.h>

/* A frame: x = position + R x', R row-major. */
typedef struct poli_pose {
  double position[3], R[9];
} poli_pose;

extern const poli_pose poli_pose_identity;
/* out = a b; out may be a or b. */
void poli_pose_product(const poli_pose *a, const poli_pose *b, poli_pose *out);
/* out = a^-1 b */
void poli_pose_between(const poli_pose *a, const poli_pose *b, poli_pose *out);
/* Roll, pitch and yaw about the fixed axes x, y and z. */
void poli_pose_set_rpy(const double rpy[3], double R[9]);
/* Right-handed about a unit axis. */
void poli_pose_set_axis(const double axis[3], double angle, double R[9]);

/* Mass, centre and inertia about it, in the axes of some frame. */
typedef struct poli_solid {
  double mass, center[3], inertia[9];
} poli_solid;

/* Adds a part whose frame is at that pose in the frame of the sum. */
void poli_solid_add(poli_solid *sum, const poli_solid *part, const poli_pose *pose);

/* A description while it is read. */
typedef struct poli_robot {
  xmlDocPtr document;
  const char *folder; /* of its file, with a slash at the end, or "" */
  pol_robot_options options;
  pol_errors *errors;
  pol_status status; /* POL_NO_MEMORY: the reading ends */
  json_t *model;     /* what is made of it */
  json_t *names;     /* those given so far: an object for each list of names */
  json_t *notes;     /* texts: what it has that the model has not */
} poli_robot;

/* Adds an error at an element: its line, and a path such as "joint 'elbow'".  The value is at most
 * 60 bytes of a text. */
void poli_robot_error(poli_robot *robot, const xmlNode *at, const char *path, const char *value,
                      const char *rule, const char *suggestion);
/* Why a mesh with this scale cannot be a shape, which has one factor; NULL if it can. */
const char *poli_robot_scale_problem(const double scale[3]);
/* Adds a note, printf-like. */
void poli_robot_note(poli_robot *robot, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A new name for the model, which the caller frees: the wanted one without characters that models
 * do not allow; if another object of that list ("elements", "markers", "variables") has it, with
 * the suffix.  A change is noted. */
char *poli_robot_name(poli_robot *robot, const char *list, const char *wanted, const char *suffix,
                      const char *path);
/* Appends an item to the list of that key of the model; takes it over, NULL is no memory. */
void poli_robot_add(poli_robot *robot, const char *key, json_t *item);

/* The first child element of that name, or the next one; NULL if there is none. */
xmlNode *poli_xml_child(const xmlNode *parent, const char *name);
xmlNode *poli_xml_next(const xmlNode *element);
/* An attribute; NULL if there is none.  The caller frees it with xmlFree. */
char *poli_xml_text(const xmlNode *element, const char *name);
/* Numbers of a text, separated by blanks, at least and at most so many: how many there are; 0 if
 * they are wrong, which is reported with the path and the name of the attribute. */
int poli_xml_read_numbers(poli_robot *robot, const xmlNode *element, const char *name,
                          const char *path, const char *text, int least, int most, double *numbers);
/* `count` numbers of an attribute, separated by blanks; 0 and unchanged if there is none; else 1,
 * also if they are wrong, which is reported with the path. */
int poli_xml_numbers(poli_robot *robot, const xmlNode *element, const char *name, const char *path,
                     int count, double *numbers);

json_t *poli_json_numbers(const double *x, int count);
json_t *poli_json_rotation(const double R[9]);

/* Adds a body; its frame is at the centre of mass, the axes are those of the solid.  Without mass,
 * or with an inertia that no solid has, an error at the element.  Takes the shapes over. */
void poli_robot_add_body(poli_robot *robot, const xmlNode *at, const char *path, const char *name,
                         const poli_solid *solid, const poli_pose *frame, json_t *shapes);
/* given (may be NULL): its name in the model, which the caller frees; NULL without memory. */
void poli_robot_add_marker(poli_robot *robot, const char *wanted, const char *path,
                           const char *body, const poli_pose *pose, char **given);
/* Gives a shape its place, and its colour (red, green, blue from 0 to 1) if that is not NULL;
 * appends it to the list. */
void poli_robot_add_shape(poli_robot *robot, json_t *shapes, json_t *shape, const poli_pose *pose,
                          const double *color);
/* The title of the model. */
void poli_robot_set_title(poli_robot *robot, const char *title);

/* The path of a mesh file from the folder of the description; package:// is looked for in the
 * folders above and in ROS_PACKAGE_PATH.  NULL: it is not there, or no format that can be shown,
 * which is noted. */
char *poli_robot_mesh(poli_robot *robot, const char *name, const char *owner);

/* Attributes of elements in some sections (children of the first element), as lists of words: those
 * that are read, those of contacts and the solver, those of the display.  "*" for one of the last
 * two: the whole element is. */
typedef struct poli_attributes {
  const char *sections, *elements, *used, *contact, *display;
} poli_attributes;

/* Notes the attributes of a document that are not read; the first row counts that has the section
 * and the element.  Elements without a row are skipped. */
void poli_robot_note_attributes(poli_robot *robot, const xmlNode *top, int count,
                                const poli_attributes *table);

/* Reads <robot>, <mujoco>; errors, notes and the model are in the robot. */
void poli_read_urdf(poli_robot *robot, const xmlNode *top);
void poli_read_mjcf(poli_robot *robot, xmlNode *top);

/* Parses a text; NULL with errors.  file: the name of an included file for them, or "". */
xmlDocPtr poli_xml_parse(poli_robot *robot, const char *text, size_t size, const char *file);

/* Whether a text is XML: it begins with "<", in UTF-8 or UTF-16. */
int poli_is_robot(const char *text, size_t size);
/* The model file of a text in XML, as pol_robot_read_file(); folder: of its file, with a slash at
 * the end, or "". */
pol_status poli_robot_text(const char *bytes, size_t size, const char *folder,
                           const pol_robot_options *options, char **model, char **notes,
                           pol_errors *errors);

#endif
