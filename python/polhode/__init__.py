"""polhode: simulation of constrained rigid and flexible multibody systems.

    import polhode

    model = polhode.Model(gravity=(0, 0, -9.81))
    model.add_body("rod", mass=1, inertia=[1e-4, 1/12, 1/12], position=[0.5, 0, 0])
    model.add_joint("hinge", "revolute", bodies=["ground", "rod"], point=[0, 0, 0], axis=[0, 1, 0])
    result = polhode.Simulation(model, step=1e-3, end=2).run()
    result["rod.position"]          # an array of 2001 x 3
"""
from .errors import InputError, ModelError, PolhodeError, SimulationError
from ._core import version as __version__
from .analysis import Equilibrium, LinearModel, Mode
from .model import Model, load
from .result import Result, View, read_result
from .simulation import BodyState, Motion, Simulation, State

__all__ = ["BodyState", "Equilibrium", "InputError", "LinearModel", "Mode", "Model", "ModelError", "Motion",
           "PolhodeError", "Result", "Simulation", "SimulationError", "State", "View", "load", "read_result",
           "__version__"]
