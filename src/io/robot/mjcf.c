#include "io/robot/robot.h"
void poli_read_mjcf(poli_robot *robot, xmlNode *top)
{
  poli_robot_error(robot, top, "mujoco", "", "is not supported", "");
}
