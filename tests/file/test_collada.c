/* Collada files: the solid that each kind of primitive and transformation describes, compared with
 * a calculation by hand and, where it is installed, with assimp; invalid and hostile files. */
#include "check.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "io/file/mesh.h"

#if __has_include(<assimp/cimport.h>)
#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/mesh.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#define HAS_ASSIMP 1
#else
#define HAS_ASSIMP 0
#endif

#define COLLADA                                                                                    \
  "<?xml version='1.0'?>\n"                                                                        \
  "<COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' version='1.4.1'>\n"
#define ASSET(unit) "<asset><unit name='u' meter='" unit "'/><up_axis>Z_UP</up_axis></asset>\n"
/* The corners of the unit cube, x first, and a normal. */
#define SOURCES                                                                                    \
  "<source id='pos'><float_array id='xyz' count='24'>0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 " \
  "1 1</float_array><technique_common><accessor source='#xyz' count='8' stride='3'><param "        \
  "name='X' type='float'/><param name='Y' type='float'/><param name='Z' type='float'/>"            \
  "</accessor></technique_common></source>\n"                                                      \
  "<source id='nor'><float_array id='n' count='3'>0 0 1</float_array><technique_common><accessor " \
  "source='#n' count='1' stride='3'><param name='X' type='float'/><param name='Y' type='float'/>"  \
  "<param name='Z' type='float'/></accessor></technique_common></source>\n"                        \
  "<vertices id='ver'><input semantic='POSITION' source='#pos'/></vertices>\n"
#define VERTEX "<input semantic='VERTEX' source='#ver' offset='0'/>"
#define VERTEX_NORMAL                                                                              \
  "<input semantic='NORMAL' source='#nor' offset='0'/><input semantic='VERTEX' source='#ver' "     \
  "offset='1'/>"
#define GEOMETRY(primitives)                                                                       \
  "<library_geometries><geometry id='cube'><mesh>" SOURCES primitives                              \
  "</mesh></geometry></library_geometries>\n"
#define NODES(nodes)                                                                               \
  "<library_visual_scenes><visual_scene id='all'>" nodes "</visual_scene></"                       \
  "library_visual_scenes>\n"
#define SCENE "<scene><instance_visual_scene url='#all'/></scene></COLLADA>\n"
#define ONE "<instance_geometry url='#cube'/>"
#define TRIANGLES                                                                                  \
  "<triangles count='12'>" VERTEX                                                                  \
  "<p>0 2 1 1 2 3 4 5 6 5 7 6 0 1 4 1 5 4 2 6 3 3 6 7 0 4 2 2 4 6 "                                \
  "1 3 5 3 7 5</p></triangles>"
/* A cube with an edge of one unit. */
#define CUBE(unit, nodes) COLLADA ASSET(unit) GEOMETRY(TRIANGLES) NODES(nodes) SCENE
#define PRIMITIVE(text) COLLADA ASSET("1") GEOMETRY(text) NODES("<node>" ONE "</node>") SCENE

static const char path[] = "collada_test.dae";

static void put(const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

/* The same file as assimp reads it, with the axes of the file as other readers of URDF do. */
static int read_with_assimp(poli_mesh *mesh)
{
#if HAS_ASSIMP
  void *library = dlopen("libassimp.so.5", RTLD_NOW);
  if (!library) return 0;
  struct aiPropertyStore *(*create)(void);
  void (*set)(struct aiPropertyStore *, const char *, int);
  const struct aiScene *(*import)(const char *, unsigned, struct aiFileIO *,
                                  const struct aiPropertyStore *);
  void (*release)(struct aiPropertyStore *);
  void (*release_scene)(const struct aiScene *);
  *(void **)&create = dlsym(library, "aiCreatePropertyStore");
  *(void **)&set = dlsym(library, "aiSetImportPropertyInteger");
  *(void **)&import = dlsym(library, "aiImportFileExWithProperties");
  *(void **)&release = dlsym(library, "aiReleasePropertyStore");
  *(void **)&release_scene = dlsym(library, "aiReleaseImport");
  assert_true(create && set && import && release && release_scene);
  struct aiPropertyStore *store = create();
  set(store, AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, 1);
  const struct aiScene *scene =
      import(path, aiProcess_Triangulate | aiProcess_PreTransformVertices, NULL, store);
  assert_non_null(scene);
  *mesh = (poli_mesh){0};
  for (unsigned i = 0; i < scene->mNumMeshes; i++)
    for (unsigned f = 0; f < scene->mMeshes[i]->mNumFaces; f++) {
      const struct aiFace *face = &scene->mMeshes[i]->mFaces[f];
      assert_int_equal(face->mNumIndices, 3);
      for (int k = 0; k < 3; k++) {
        const struct aiVector3D *x = &scene->mMeshes[i]->mVertices[face->mIndices[k]];
        const double point[3] = {(double)x->x, (double)x->y, (double)x->z};
        assert_int_equal(poli_mesh_add_point(mesh, point), POL_OK);
      }
    }
  release_scene(scene);
  release(store);
  return 1;
#else
  (void)mesh;
  return 0;
#endif
}

/* Volume, centre and mean squares from it about x, y and z of a closed surface of so many
 * triangles. */
static void assert_solid(const char *text, size_t triangles, const double expected[7])
{
  poli_mesh mesh, other;
  poli_moments m;
  char message[300] = "";
  put(text);
  if (poli_mesh_read(&mesh, path, 1.0, message, sizeof message) ||
      poli_mesh_moments(&mesh, &m, message, sizeof message))
    fail_msg("%s", message);
  assert_int_equal(mesh.num_points, 3 * triangles);
  double found[7] = {m.volume, m.center[0], m.center[1], m.center[2]};
  for (int i = 0; i < 3; i++) found[4 + i] = m.second[4 * i] / m.volume;
  assert_near(found, expected, 7, 1e-12);
  if (read_with_assimp(&other)) { /* which has numbers of single precision */
    assert_int_equal(other.num_points, mesh.num_points);
    double sums[2][3] = {{0.0}};
    for (size_t i = 0; i < 3 * mesh.num_points; i++) {
      sums[0][i % 3] += mesh.points[i];
      sums[1][i % 3] += other.points[i];
    }
    assert_near(sums[0], sums[1], 3, 1e-5);
    poli_mesh_free(&other);
  }
  poli_mesh_free(&mesh);
}

#define UNIT_CUBE ((const double[]){1.0, 0.5, 0.5, 0.5, 1.0 / 12.0, 1.0 / 12.0, 1.0 / 12.0})

static void test_primitives(void **state)
{
  (void)state;
  assert_solid(PRIMITIVE(TRIANGLES), 12, UNIT_CUBE);
  assert_solid(PRIMITIVE("<polylist count='6'>" VERTEX_NORMAL
                         "<vcount>4 4 4 4 4 4</vcount><p>0 0 0 2 0 3 0 1  0 4 0 5 0 7 0 6 "
                         "0 0 0 1 0 5 0 4  0 2 0 6 0 7 0 3  0 0 0 4 0 6 0 2  0 1 0 3 0 7 0 5</p>"
                         "</polylist>"),
               12, UNIT_CUBE);
  assert_solid(PRIMITIVE("<polygons count='6'>" VERTEX
                         "<p>0 2 3 1</p><p>4 5 7 6</p><p>0 1 5 4</p><p>2 6 7 3</p><p>0 4 6 2</p>"
                         "<p>1 3 7 5</p></polygons>"),
               12, UNIT_CUBE);
  assert_solid(PRIMITIVE("<trifans count='6'>" VERTEX
                         "<p>0 2 3 1</p><p>4 5 7 6</p><p>0 1 5 4</p><p>2 6 7 3</p><p>0 4 6 2</p>"
                         "<p>1 3 7 5</p></trifans>"),
               12, UNIT_CUBE);
  assert_solid(PRIMITIVE("<tristrips count='3'>" VERTEX
                         "<p>0 1 4 5 6 7 2 3</p><p>0 4 2 6</p><p>1 3 5 7</p></tristrips>"
                         "<triangles count='2'>" VERTEX "<p>0 2 1 1 2 3</p></triangles>"),
               12, UNIT_CUBE);
}

/* A point x of a node inside others is A1 A2 ... x, in the order of the elements. */
static void test_nodes(void **state)
{
  (void)state;
  assert_solid(CUBE("0.001", "<node><scale>1000 2000 3000</scale>" ONE "</node>"), 12,
               (const double[]){6.0, 0.5, 1.0, 1.5, 1.0 / 12, 4.0 / 12, 9.0 / 12});
  assert_solid(CUBE("1",
                    "<node><translate>1 0 0</translate><rotate>0 0 1 90</rotate><node><matrix>1 "
                    "0 0 0 0 2 0 0 0 0 3 1 0 0 0 1</matrix>" ONE "</node></node>"),
               12, (const double[]){6.0, 0.0, 0.5, 2.5, 4.0 / 12, 1.0 / 12, 9.0 / 12});
  /* a mirrored copy beside the cube: together a block of twice its length */
  assert_solid(CUBE("1",
                    "<node id='half'>" ONE "</node><node><translate>3 0 0</translate><scale>-1 1 1"
                    "</scale><instance_node url='#half'/></node>"),
               24, (const double[]){2.0, 1.5, 0.5, 0.5, 1.0 / 12 + 1.0, 1.0 / 12, 1.0 / 12});
}

static void assert_refused(const char *text, const char *reason)
{
  poli_mesh mesh;
  char message[300] = "";
  put(text);
  assert_int_equal(poli_mesh_read(&mesh, path, 1.0, message, sizeof message), POL_BAD_ARGUMENT);
  if (!strstr(message, reason)) fail_msg("\"%s\" is not in \"%s\"", reason, message);
  poli_mesh_free(&mesh);
}

#define NESTED(inner) "<node>" inner inner inner inner inner inner inner inner inner inner "</node>"

static void test_errors(void **state)
{
  (void)state;
  assert_refused("", "must be valid XML");
  assert_refused("solid", "must be valid XML");
  assert_refused(COLLADA ASSET("1") "<library_geometries><geometry id='cu", "must be valid XML");
  assert_refused(
      "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;&a;'>]><COLLADA>&b;</COLLADA>",
      "must not have a document type declaration");
  assert_refused("<robot/>", "line 1: the first element must be <COLLADA>");
  assert_refused(COLLADA "</COLLADA>", "it has no <scene>");
  assert_refused(CUBE("0", ""), "meter of <unit> must be a positive number, not \"0\"");
  assert_refused(CUBE("1e999", ""), "meter of <unit> must be a positive number");
  assert_refused(CUBE("1", ""), "the scene has no triangles");
  assert_refused(CUBE("1", "<node><instance_geometry url='other.dae#cube'/></node>"),
                 "refers to another file (\"other.dae#cube\"), which is not read");
  assert_refused(CUBE("1", "<node><instance_geometry url='#cub'/></node>"),
                 "refers to \"#cub\", which is not there");
  assert_refused(CUBE("1", "<node><instance_geometry url='#pos'/></node>"),
                 "refers to \"#pos\", which must be a <geometry>");
  assert_refused(CUBE("1", "<node><instance_controller url='#cube'/></node>"), "skins and morphs");
  assert_refused(CUBE("1", "<node><skew>1 1 0 0 0 1 0</skew></node>"), "<skew> is not read");
  assert_refused(CUBE("1", "<node><matrix>1 0 0</matrix></node>"),
                 "<matrix> must have 16 numbers, not 3");
  assert_refused(CUBE("1", "<node id='a'>" ONE "<instance_node url='#a'/></node>"),
                 "contain themselves");
  /* ten nodes of ten nodes of ... */
#define LEVEL(name, next)                                                                          \
  "<node id='" name "'>" NESTED("<instance_node url='#" next "'/>") "</node>"
  assert_refused(CUBE("1", LEVEL("a", "b") LEVEL("b", "c") LEVEL("c", "d") LEVEL("d", "e")
                               LEVEL("e", "f") LEVEL("f", "g") "<node id='g'/>"),
                 "too many nodes");
#undef LEVEL
  assert_refused(PRIMITIVE("<triangles>" VERTEX "<p>0 1 8</p></triangles>"),
                 "<p> has the index 8, but there are 8 points");
  assert_refused(PRIMITIVE("<triangles>" VERTEX "<p>0 1 -1</p></triangles>"), "the index -1");
  assert_refused(PRIMITIVE("<triangles>" VERTEX "<p>0 1 nan</p></triangles>"),
                 "<p> must have finite numbers, not \"nan\"");
  assert_refused(PRIMITIVE("<triangles>" VERTEX "<p>0 1</p></triangles>"), "three corners each");
  assert_refused(PRIMITIVE("<triangles>" VERTEX_NORMAL "<p>0 1 2</p></triangles>"),
                 "is no multiple of its 2 inputs");
  assert_refused(PRIMITIVE("<triangles><p>0 1 2</p></triangles>"), "has no <input>");
  assert_refused(PRIMITIVE("<polylist>" VERTEX "<p>0 1 2</p></polylist>"), "must have a <vcount>");
  assert_refused(PRIMITIVE("<polylist>" VERTEX "<vcount>4</vcount><p>0 1 2</p></polylist>"),
                 "<vcount> does not agree with the 3 corners");
  assert_refused(PRIMITIVE("<polygons>" VERTEX "<ph><p>0 1 2</p><h>1 2 3</h></ph></polygons>"),
                 "with holes");
  /* counts that are not true: the sources have an accessor of 8 points */
#define ACCESSOR(text)                                                                             \
  COLLADA ASSET(                                                                                   \
      "1") "<library_geometries><geometry id='cube'><mesh><source id='pos'><float_array "          \
           "id='xyz' count='4294967295'>0 0 0 1 0 0 0 1 0</float_array>"                           \
           "<technique_common>" text "</technique_common></source><vertices id='ver'>"             \
           "<input semantic='POSITION' source='#pos'/></vertices><triangles>" VERTEX               \
           "<p>0 1 2</p></triangles></mesh></geometry></library_geometries>" NODES(                \
               "<node>" ONE "</node>") SCENE
  assert_refused(ACCESSOR("<accessor source='#xyz' count='4' stride='3'/>"),
                 "more values than the 9 of its <float_array>");
  assert_refused(ACCESSOR("<accessor source='#xyz' count='2147483647' stride='2147483647'/>"),
                 "more values than the 9");
  assert_refused(ACCESSOR("<accessor source='#xyz' count='99999999999999999999' stride='3'/>"),
                 "count of <accessor> must be a whole number");
  assert_refused(ACCESSOR("<accessor source='#xyz' count='3' stride='2'/>"), "a stride of three");
  assert_refused(ACCESSOR(""), "must have a <technique_common> with an <accessor>");
  poli_mesh mesh;
  char message[300] = "";
  put(ACCESSOR("<accessor source='#xyz' count='3' stride='3'/>"));
  assert_int_equal(poli_mesh_read(&mesh, path, 1.0, message, sizeof message), POL_OK);
  assert_int_equal(mesh.num_points, 3);
  poli_mesh_free(&mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_primitives),
      cmocka_unit_test(test_nodes),
      cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
