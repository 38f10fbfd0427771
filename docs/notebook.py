# %% [markdown]
# # polhode in a notebook
#
# A double pendulum from nothing, then PD control of a robot arm from a URDF file: simulate, plot, view.
#
# Run it from the folder `docs` of the sources after `make python`:
#
#     cd docs
#     PYTHONPATH=../build/release/python jupyter notebook notebook.ipynb

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode

# %% [markdown]
# ## A double pendulum
#
# Two rods of 1 m and 1 kg, released from the horizontal. The keywords are the keys of model files, in SI units.

# %%
pendulum = polhode.Model("double pendulum", gravity=(0, 0, -9.81))
for i, (name, before) in enumerate([("upper", "ground"), ("lower", "upper")]):
    pendulum.add_body(name, mass=1, inertia=[1e-4, 1 / 12, 1 / 12], position=[i + 0.5, 0, 0],
                      shapes=[{"type": "box", "size": [1, 0.05, 0.05]}])
    pendulum.add_joint(f"hinge_{i}", "revolute", bodies=[before, name], point=[i, 0, 0], axis=[0, 1, 0])

swing = polhode.Simulation(pendulum, step=1e-3, end=5).run()
swing

# %% [markdown]
# `swing` has every recorded quantity as an array. The change of the energy shows how accurate the run is.

# %%
print(f"change of the energy: {np.ptp(swing['energy.total']):.1e} J")
swing.plot("lower.position.x", "lower.position.z");

# %%
swing.view()

# %% [markdown]
# The motion is sensitive: a lower rod that is 1 g heavier ends centimetres away.

# %%
heavier = polhode.Simulation(pendulum, step=1e-3, end=5, overrides=["bodies.lower.mass=1.001"]).run()
apart = np.linalg.norm(swing["lower.position"] - heavier["lower.position"], axis=1)
plt.figure()
plt.semilogy(swing.t[1:], apart[1:])
plt.xlabel("t in s")
plt.ylabel("distance in m");

# %% [markdown]
# ## A robot arm with PD control
#
# `load` also reads URDF and MJCF. A model from a file is as it is; `from_dict` makes one that can be changed. Each
# driven joint gets an input, and a force element that applies it as a torque.

# %%
arm = polhode.Model.from_dict(polhode.load("../models/robots/arm.urdf").to_dict())
joints = ["turn", "shoulder", "elbow"]
for joint in joints:
    arm.add_input(f"{joint}_torque")
    arm.add_force(f"{joint}_motor", "joint-spring", joint=joint, stiffness=0, actuator=f"{joint}_torque")
arm.names("joints")

# %% [markdown]
# The controller is called before every output step, here at 1 kHz. Coordinates of joints are measured from the start.

# %%
target = {"turn": 1.0, "shoulder": 0.4, "elbow": 0.8}  # rad
stiffness = {"turn": 60.0, "shoulder": 200.0, "elbow": 100.0}  # N m/rad
damping = {"turn": 8.0, "shoulder": 20.0, "elbow": 8.0}  # N m s/rad

simulation = polhode.Simulation(arm, step=1e-3, end=2)
columns = {name: i for i, name in enumerate(simulation.channels)}


def control(simulation):
    values = simulation.values()
    for joint in joints:
        angle, rate = values[columns[f"{joint}.angle"]], values[columns[f"{joint}.rate"]]
        simulation.inputs[f"{joint}_torque"] = stiffness[joint] * (target[joint] - angle) - damping[joint] * rate


motion = simulation.run(controller=control)
motion.plot(*(f"{joint}.angle" for joint in joints));

# %% [markdown]
# PD control leaves an error: there the torque carries the weight of the arm.

# %%
for joint in joints:
    error = target[joint] - motion[f"{joint}.angle"][-1]
    print(f"{joint:9}{error: .4f} rad, torque {stiffness[joint] * error: .2f} N m")

# %%
motion.view()
