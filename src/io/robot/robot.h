/* Descriptions of robots in XML (URDF) as models: the parts that all formats share.
 *
 * A description is a tree of links.  Links that are fixed to each other become one body, with the
 * name of the first of them and with markers in place of the others; its mass and inertia are the
 * sum.  The first link is the ground, or, with a floating base, a free body.  The result is the
 * JSON tree of a model file, which the reader of models checks as any other.
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

/* A description while it is read. */
typedef struct poli_robot {
  xmlDocPtr document;
  const char *folder; /* of its file, with a slash at the end, or "" */
  pol_robot_options options;
  pol_errors *errors;
  pol_status status; /* POL_NO_MEMORY: the reading ends */
  json_t *model;     /* what is made of it */
  json_t *notes;     /* texts: what it has that the model has not */
} poli_robot;

/* Adds an error at an element: its line, and a path such as "joint 'elbow'". */
void poli_robot_error(poli_robot *robot, const xmlNode *at, const char *path, const char *value,
                      const char *rule, const char *suggestion);
/* Adds a note, printf-like. */
void poli_robot_note(poli_robot *robot, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends an item to the list of that key of the model; takes it over, NULL is no memory. */
void poli_robot_add(poli_robot *robot, const char *key, json_t *item);

/* The first child element of that name, or the next one; NULL if there is none. */
xmlNode *poli_xml_child(const xmlNode *parent, const char *name);
xmlNode *poli_xml_next(const xmlNode *element);
/* An attribute; NULL if there is none.  The caller frees it with xmlFree. */
char *poli_xml_text(const xmlNode *element, const char *name);
/* `count` numbers of an attribute, separated by blanks; 0 and unchanged if there is none; else 1,
 * also if they are wrong, which is reported with the path. */
int poli_xml_numbers(poli_robot *robot, const xmlNode *element, const char *name, const char *path,
                     int count, double *numbers);

json_t *poli_json_numbers(const double *x, int count);
json_t *poli_json_rotation(const double R[9]);

/* The path of a mesh file from the folder of the description; package:// is looked for in the
 * folders above and in ROS_PACKAGE_PATH.  NULL: it is not there, or no format that can be shown,
 * which is noted. */
char *poli_robot_mesh(poli_robot *robot, const char *name, const char *owner);

/* Reads <robot>; errors, notes and the model are in the robot. */
void poli_read_urdf(poli_robot *robot, const xmlNode *top);

/* Whether a text is XML: it begins with "<". */
int poli_is_robot(const char *text, size_t size);
/* The model file of a text in XML, as pol_robot_read_file(); folder: of its file, with a slash at
 * the end, or "". */
pol_status poli_robot_text(const char *bytes, size_t size, const char *folder,
                           const pol_robot_options *options, char **model, char **notes,
                           pol_errors *errors);

#endif
