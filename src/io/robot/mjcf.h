/* MJCF, the format of MuJoCo, while it is read: attributes with their default classes, poses, the
 * bodies and joints, and what is fixed to the bodies. */
#ifndef POLHODE_IO_ROBOT_MJCF_H
#define POLHODE_IO_ROBOT_MJCF_H

#include "io/robot/robot.h"

typedef struct poli_mjcf_body {
  const xmlNode *at;
  char *name, *path;           /* name: "" if it has none; path: "body 'arm'" */
  char *model_name;            /* of the first one of those that are fixed to each other */
  int parent;                  /* -1: the world itself */
  int first;                   /* the body that it is fixed to, or itself */
  int first_joint, num_joints; /* its joints follow each other */
  const xmlNode *inertial;
  poli_pose inertial_frame; /* of the frame around <inertial> */
  poli_pose local;          /* in the parent */
  poli_pose pose;           /* global, at the start */
  poli_pose zero_pose;      /* with all joints at ref */
  poli_pose spring_pose;    /* with all joints at springref */
  double velocity[6];       /* at the start, global: of the point at the origin; angular */
  poli_solid solid;         /* of this one alone, in its own axes */
  poli_solid total;         /* of all that are fixed to it; about its own origin */
  poli_pose frame;          /* of the body in the model: at the centre of mass */
  json_t *shapes;           /* of the body in the model */
} poli_mjcf_body;

typedef enum poli_mjcf_kind { POLI_HINGE, POLI_SLIDE, POLI_BALL, POLI_FREE } poli_mjcf_kind;

/* Its coordinate is q = ref + start + sign c, with c that of the model. */
typedef struct poli_mjcf_joint {
  const xmlNode *at;
  char *name, *path;
  poli_mjcf_kind kind;
  int body;
  double position[3], axis[3]; /* in the body */
  double limits[2];            /* of q; infinite if there are none */
  double stiffness, rest, damping, armature, friction, ref;
  double start, sign;
  double start_pose[7];     /* of a free or ball joint: position, quaternion; 0: none is given */
  double start_velocity[6]; /* as in a keyframe */
  double start_axis[3], start_position[3]; /* in the body where it starts */
  char *model_name;         /* of the joint in the model, which may stand for several */
  const char *coordinate;   /* there; NULL: it has none */
  const char *value, *rate; /* names of c and its rate in expressions */
} poli_mjcf_joint;

typedef enum poli_mjcf_type {
  POLI_SPHERE,
  POLI_CAPSULE,
  POLI_ELLIPSOID,
  POLI_CYLINDER,
  POLI_BOX,
  POLI_MESH,
  POLI_PLANE,
  POLI_OTHER
} poli_mjcf_type;

/* A geom or site. */
typedef struct poli_mjcf_part {
  const xmlNode *at;
  int body, is_geom, is_wrong;
  poli_pose frame; /* of the frame around it, in the body */
  poli_pose pose;  /* its own in the body */
  char *marker;    /* of a site: its name in the model, if it has one */
  /* of a geom */
  poli_mjcf_type type;
  double size[3];      /* as in the file: radius and half length, half axes, half edges */
  const xmlNode *mesh; /* the asset */
} poli_mjcf_part;

typedef struct poli_mjcf {
  poli_robot *robot;
  xmlNode *top;
  json_t *files; /* included so far */
  int degrees, auto_limits;
  int inertia_from_geoms; /* 0: never; 1: always; 2: where there is no <inertial> */
  double least_mass, least_inertia;
  char sequence[4]; /* of Euler angles */
  int num_bodies, num_joints, num_parts;
  poli_mjcf_body *bodies; /* the first is the world; parents before children */
  poli_mjcf_joint *joints;
  poli_mjcf_part *parts;
  json_t *body_numbers, *joint_numbers; /* by name */
  const xmlNode *key;                   /* the keyframe at which it starts, or NULL */
  double *controls;                     /* of all actuators there, in the order of the file */
} poli_mjcf;

/* Attributes that all actuators share. */
#define POLI_MJCF_ACTUATOR                                                                         \
  "name class joint tendon gear ctrllimited ctrlrange forcelimited forcerange"

/* An attribute of an element or of its default class; NULL if there is none.  Free with xmlFree.
 * The defaults of all kinds of actuators are the same ones, and so are those of all tendons. */
char *poli_mjcf_text(const poli_mjcf *m, const xmlNode *at, const char *name);
/* Whether an attribute has this word; fallback if there is no such attribute. */
int poli_mjcf_is(const poli_mjcf *m, const xmlNode *at, const char *name, const char *word,
                 int fallback);
/* Numbers of an attribute, at least and at most so many: how many there are; 0 and unchanged if
 * there are none. */
int poli_mjcf_numbers(poli_mjcf *m, const xmlNode *at, const char *name, const char *path,
                      int least, int most, double *numbers);
/* pos and one of quat, axisangle, euler, xyaxes and zaxis. */
void poli_mjcf_pose(poli_mjcf *m, const xmlNode *at, const char *path, poli_pose *pose);
/* z to that direction, by the smallest rotation. */
void poli_mjcf_turn_z(const double axis[3], double R[9]);
/* A setting of <compiler>: that of the last one that has it, or NULL.  Free with xmlFree. */
char *poli_mjcf_setting(const poli_mjcf *m, const char *name);
/* "geom 'name'", or "geom" of the body; free it. */
char *poli_mjcf_path(poli_mjcf *m, const xmlNode *at, int body);
/* The number of a body or joint by name, or -1. */
int poli_mjcf_find(const json_t *numbers, const char *name);

/* Poses and sizes of geoms and sites, masses of geoms and <inertial>, the total of each body of the
 * model and its frame. */
void poli_mjcf_sum_masses(poli_mjcf *m);
/* Shapes of geoms, markers of sites. */
void poli_mjcf_add_parts(poli_mjcf *m);
/* Poses and velocities of bodies at the start: that of the keyframe of the options, or the zero
 * position; a joint alone whose limits do not contain its ref starts at the nearest one. */
void poli_mjcf_place_bodies(poli_mjcf *m);
/* Joints of the model for those of each body; equalities; springs of tendons; actuators. */
void poli_mjcf_add_joints(poli_mjcf *m);
void poli_mjcf_add_equalities(poli_mjcf *m);
void poli_mjcf_add_tendons(poli_mjcf *m);
void poli_mjcf_add_actuators(poli_mjcf *m);

#endif
