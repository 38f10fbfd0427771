#!/usr/bin/env python3
"""The Python package: models, simulations, forces, inputs, results, analyses, errors.

    test_package.py SOURCE_DIR
"""
import gc
import math
import os
import pathlib
import resource
import sys
import tempfile
import threading
import unittest

import numpy as np

import polhode

SOURCE = pathlib.Path(sys.argv.pop(1))
TOP = SOURCE / "models/bruels-cardona-2010/heavy_top.json"


def pendulum(**keys):
    """A rod of 1 m on a hinge about y, released from the horizontal."""
    model = polhode.Model("pendulum", gravity=(0, 0, -9.81), **keys)
    model.add_body("rod", mass=1, inertia=[1e-4, 1 / 12, 1 / 12], position=np.array([0.5, 0, 0]))
    return model.add_joint("hinge", "revolute", bodies=["ground", "rod"], point=[0, 0, 0], axis=[0, 1, 0])


class Models(unittest.TestCase):
    def test_files_and_parameters(self):
        model = polhode.load(SOURCE / "models/beams/rolled_cantilever.json", turns=0.5)
        self.assertEqual(model.parameters["turns"], 0.5)
        self.assertEqual(model.names("bodies")[0], "beam_0")
        self.assertEqual(polhode.load(TOP).name, "Heavy top")

    def test_building_saving_and_reading(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "pendulum.json"
            pendulum(simulation={"step": 1e-3, "end": 0.1}).save(path)
            a = polhode.Simulation(path).run()
            b = polhode.Simulation(pendulum(), step=1e-3, end=0.1).run()
            np.testing.assert_array_equal(a.rows, b.rows)

    def test_errors_carry_element_and_rule(self):
        model = pendulum()
        model.add_body("bad", mass=-1, inertia=[1, 1, 1])
        model.add_joint("wrong", "hinge", bodies=["ground", "rodd"], point=[0, 0, 0])
        with self.assertRaises(polhode.ModelError) as caught:
            polhode.Simulation(model, step=1e-3, end=1)
        errors = {error.path: error for error in caught.exception.errors}
        self.assertEqual(errors["bodies[1].mass"].element, "body 'bad'")
        self.assertEqual(errors["bodies[1].mass"].rule, "must be a positive number")
        self.assertEqual(errors["joints[1].type"].suggestion, "revolute")
        self.assertTrue(any("rodd" in error.value for error in caught.exception.errors))

    def test_numbers_that_are_not_finite_are_named(self):
        model = pendulum().add_body("bad", mass=math.nan, inertia=np.array([1, math.inf, 1]))
        with self.assertRaises(polhode.ModelError) as caught:
            polhode.Simulation(model)
        self.assertEqual({error.element for error in caught.exception.errors}, {"body 'bad'"})
        self.assertTrue(str(caught.exception).startswith("bodies[1].mass (body 'bad') must be a positive number"))
        self.assertEqual(caught.exception.errors[0].line, 0)  # it is in no file

    def test_bodies_of_functions(self):
        model = pendulum().add_force("drag", lambda t, motion: (0, 0, 0), body="rodd", other="wall")
        with self.assertRaises(polhode.ModelError) as caught:
            polhode.Simulation(model)
        self.assertEqual([error.path for error in caught.exception.errors], ["force 'drag': body", "force 'drag': other"])
        self.assertEqual(caught.exception.errors[0].element, "force 'drag'")

    def test_errors_of_a_file_name_it(self):
        with self.assertRaises(polhode.ModelError) as caught:
            polhode.load("nothing.json")
        self.assertEqual(caught.exception.source, "nothing.json")
        self.assertTrue(str(caught.exception).startswith("nothing.json: cannot be read"))
        with self.assertRaises(polhode.ModelError) as caught:
            polhode.Simulation(pendulum(), step=-1, end=1)
        self.assertEqual(caught.exception.source, "")

    def test_wrong_calls(self):
        simulation = polhode.Simulation(pendulum(), step=1e-3, end=0.01)
        wrong = [
            (lambda: polhode.load("nothing.json"), polhode.ModelError),
            (lambda: polhode.Simulation(pendulum(), stepp=1e-3, end=1), polhode.ModelError),
            (lambda: polhode.Simulation(pendulum(), step=-1, end=1), polhode.ModelError),
            (lambda: polhode.Simulation(pendulum(), method="geom9", step=1e-3, end=1), polhode.ModelError),
            (lambda: polhode.Simulation(pendulum(), parameters={"L": 1}), polhode.ModelError),
            (lambda: simulation.body("leg"), KeyError),
            (lambda: simulation.inputs.__setitem__("u", 1), KeyError),
            (lambda: simulation.load(b"nonsense"), ValueError),
            (lambda: simulation.step(-1), ValueError),
            (lambda: pendulum().static(steps=0), ValueError),
            (lambda: pendulum().static(t=math.nan), ValueError),
            (lambda: pendulum().modes(static=-1), ValueError),
            (lambda: pendulum().modes(count=-1), ValueError),
            (lambda: pendulum().linearize(static=-1), ValueError),
            (lambda: polhode.Simulation(pendulum(), overrides="bodies.rod.mass=3"), TypeError),
            (lambda: simulation.run()["rod.positon"], KeyError),
            (lambda: polhode.Simulation(pendulum().add_force("f", lambda t, m: [1, 2], body="rod"), step=1e-3, end=1), ValueError),
            (lambda: polhode.Simulation(pendulum().add_force("f", lambda t, m: [0, 0, 0], body="arm"), step=1e-3, end=1), polhode.ModelError),
            (lambda: polhode.read_result(TOP), OSError),
            (lambda: polhode.load(TOP).add_body("more", mass=1), TypeError),
            (lambda: pendulum().linearize(inputs=["motor"]), polhode.ModelError),
        ]
        for call, exception in wrong:
            with self.assertRaises(exception):
                call()


class Simulations(unittest.TestCase):
    def test_steps_give_what_run_gives(self):
        simulation = polhode.Simulation(TOP, end=0.05)
        while not simulation.finished:
            simulation.step()
        result = polhode.Simulation(TOP, end=0.05).run()
        np.testing.assert_array_equal(simulation.values(), result.rows[-1])
        np.testing.assert_array_equal(simulation.body("top").position, result["top.position"][-1])
        self.assertEqual(len(result.t), 51)
        with self.assertRaises(StopIteration):
            simulation.step()

    def test_state_is_not_copied(self):
        simulation = polhode.Simulation(TOP, end=0.05)
        q = simulation.state.q
        self.assertFalse(q.flags.owndata)
        self.assertFalse(q.flags.writeable)
        self.assertEqual(q.shape, (7,))
        self.assertEqual(simulation.state.multipliers.shape, (3,))
        before = simulation.state.q.copy()
        simulation.step()
        self.assertGreater(np.abs(simulation.state.q - before).max(), 1e-3)
        del simulation
        gc.collect()
        self.assertTrue(np.isfinite(q).all())  # the view keeps the simulation alive

    def test_settings_are_keywords(self):
        rough = polhode.Simulation(TOP, method="rattle", step=1e-2, end=0.5).run()
        fine = polhode.Simulation(TOP, method="geom1", rho_inf=0.9, newton__stop="tight", step=1e-4, end=0.5).run()
        self.assertEqual(len(rough.t), 51)
        self.assertLess(np.abs(rough["top.position"][-1] - fine["top.position"][-1]).max(), 0.05)

    def test_python_forces(self):
        # the same spring as an element and as a function
        element = pendulum().add_marker("wall", "ground", position=[1, 0, 1]).add_marker("middle", "rod", position=[0, 0, 0])
        element.add_force("spring", "spring-damper", markers=["wall", "middle"], stiffness=40, length=0, damping=0)
        anchor = np.array([1.0, 0.0, 1.0])
        model = pendulum().add_force("spring", lambda t, motion: 40 * (anchor - motion.position), body="rod")
        a, b = (polhode.Simulation(one, method="geom1", step=1e-3, end=0.5).run() for one in (element, model))
        np.testing.assert_allclose(a["rod.position"], b["rod.position"], atol=1e-7)

    def test_forces_act_on_the_other_body_too(self):
        model = polhode.Model()
        for name, x in (("a", 0.0), ("b", 1.0)):
            model.add_body(name, mass=1, inertia=[0.1, 0.2, 0.3], position=[x, 0, 0], angular_velocity=[0.3, x, 0.1])
        model.add_force("pull", lambda t, motion: [*(5 * (motion.other.position - motion.position)), 0.1, 0, 0.2],
                        body="a", other="b")
        result = polhode.Simulation(model, method="geom1", step=1e-3, end=1).run()
        for name in ("momentum.linear", "momentum.angular"):
            np.testing.assert_allclose(result[name][-1], result[name][0], atol=2e-6)

    def test_exceptions_of_forces_come_through(self):
        def fails(t, motion):
            if t > 0.01:
                raise ZeroDivisionError("at last")
            return (0, 0, 0)
        simulation = polhode.Simulation(pendulum().add_force("f", fails, body="rod"), method="geom1", step=1e-3, end=1)
        with self.assertRaisesRegex(ZeroDivisionError, "at last"):
            simulation.run()
        self.assertAlmostEqual(simulation.t, 0.01, delta=2e-3)

    def test_controllers_set_inputs(self):
        model = pendulum().add_input("torque")
        model.add_force("motor", "joint-spring", joint="hinge", stiffness=0, actuator="torque")
        # holds the rod where it is: gravity has the moment m g l/2 about y
        simulation = polhode.Simulation(model, method="geom1", step=1e-3, end=1)

        def hold(sim):
            row = dict(zip(sim.channels, sim.values()))
            sim.inputs["torque"] = -4.905 * math.cos(row["hinge.angle"]) - 60 * row["hinge.angle"] - 6 * row["hinge.rate"]
        result = simulation.run(controller=hold)
        self.assertLess(np.abs(result["hinge.angle"]).max(), 0.01)
        self.assertEqual(list(simulation.inputs), ["torque"])

    def test_fmus_as_controllers(self):
        """Two simulations in turns have instances of their own; errors are exceptions."""
        sys.path.insert(0, str(SOURCE / "tests/fmi"))
        import fixture
        with tempfile.TemporaryDirectory() as folder:
            fmu = fixture.pack(pathlib.Path(folder) / "pd.fmu", 3, os.environ["POLHODE_TEST_FMU"])
            path = fixture.write(pathlib.Path(folder) / "model.json", fixture.model("pd.fmu", parameters={"ki": 4}))
            alone = polhode.Simulation(path).run()
            one, two = polhode.Simulation(path), polhode.Simulation(polhode.load(path, gain=2.0))
            for _ in range(100):
                one.step(10)
                two.step(10)
            self.assertEqual(one.inputs["motor"], alone["motor"][-1])
            self.assertEqual(two.inputs["motor"], alone["motor"][-1])
            angle = alone["pd_angle"][::10]
            self.assertAlmostEqual(alone["motor"][-1], -angle[-1] - 0.04 * angle[1:].sum(), delta=1e-12)
            # a model without a file needs the whole path
            keys = fixture.model(fmu, parameters={"ki": 4})
            run = polhode.Simulation(polhode.Model(**keys)).run()
            np.testing.assert_array_equal(run["motor"], alone["motor"])
            with self.assertRaises(polhode.ModelError) as caught:
                missing = fixture.model("none.fmu")
                polhode.Simulation(fixture.write(pathlib.Path(folder) / "missing.json", missing))
            self.assertEqual([(e.path, e.element) for e in caught.exception.errors],
                             [("controllers[0].fmu", "controller 'pd'")])
            self.assertTrue(caught.exception.source.endswith("missing.json"))
            with self.assertRaisesRegex(polhode.PolhodeError, "absolute path"):
                polhode.Simulation(polhode.Model(**fixture.model("pd.fmu")))
            with self.assertRaisesRegex(polhode.ModelError, "no such variable"):
                polhode.Simulation(polhode.Model(**fixture.model(fmu, inputs={"x": "t"})))
            with self.assertRaises(polhode.SimulationError) as caught:
                polhode.Simulation(polhode.Model(**fixture.model(fmu, parameters={"fail": 2}))).run()
            self.assertAlmostEqual(caught.exception.t, 0.5)
            self.assertIn("burnt through", caught.exception.message)
            self.assertEqual(len(caught.exception.result.t), 500)

    def test_failures_keep_the_rows(self):
        model = pendulum().add_variable("u", expression="sqrt(0.05 - t)")
        model.add_force("push", "force", body="rod", force=["u", 0, 0])
        with self.assertRaises(polhode.SimulationError) as caught:
            polhode.Simulation(model, method="geom1", step=1e-3, end=1).run()
        error = caught.exception
        self.assertAlmostEqual(error.t, 0.05, delta=2e-3)
        self.assertGreater(len(error.result.t), 45)
        self.assertTrue(error.message)

    def test_saved_states(self):
        whole = polhode.Simulation(TOP, end=0.1)
        whole.step(40)
        saved = whole.save()
        whole.step(60)
        again = polhode.Simulation(TOP, end=0.1)
        again.load(saved)
        again.step(60)
        np.testing.assert_array_equal(whole.values(), again.values())

    def test_threads(self):
        results = {}

        def work(number):
            results[number] = polhode.Simulation(TOP, end=0.2).run().rows
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number in range(1, 4):
            np.testing.assert_array_equal(results[0], results[number])

    def test_runs_take_the_lock_of_the_interpreter_rarely(self):
        class Counting:
            calls = 0

            def __init__(self, core):
                self.core = core

            def __getattr__(self, name):
                return getattr(self.core, name)

            def advance(self, *arguments):
                self.calls += 1
                return self.core.advance(*arguments)
        for until in None, 1.9995:
            simulation = polhode.Simulation(TOP, method="rattle", step=1e-4, end=2)
            simulation._core = Counting(simulation._core)
            result = simulation.run(until)
            self.assertEqual(len(result.t), 20001 if until is None else 19996)
            self.assertLessEqual(simulation._core.calls, 6)  # blocks of 512, 1024, 2048, ... rows
            single = polhode.Simulation(TOP, method="rattle", step=1e-4, end=2)
            np.testing.assert_array_equal(single.run(until, controller=lambda _: None).rows, result.rows)

    def test_memory_stays_flat(self):
        simulation = polhode.Simulation(pendulum().add_force("f", lambda t, motion: (0.0, 0.0, 0.0), body="rod"),
                                        method="rattle", step=1e-3, end=1e4)
        def grown(steps):
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            for _ in range(steps):
                simulation.step()
                simulation.body("rod")
                simulation.state.q
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        grown(2000)
        self.assertLess(grown(50000), 400)  # kB


class Results(unittest.TestCase):
    def test_files_hold_what_run_gives(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("top.h5", "top.csv"):
                path = pathlib.Path(folder) / name
                result = polhode.Simulation(TOP, end=0.05).run(out=path)
                again = polhode.read_result(path)
                np.testing.assert_array_equal(result.rows, again.rows)
                self.assertEqual(list(result), list(again))
            self.assertEqual(again.units["top.position.x"], "m")
            self.assertIn("polhode", polhode.read_result(pathlib.Path(folder) / "top.h5").view().html)

    def test_mapping(self):
        result = polhode.Simulation(TOP, end=0.05).run()
        self.assertEqual(result["top.quaternion"].shape, (51, 4))
        self.assertEqual(set(result.to_dict("top.position.*")), {"top.position.x", "top.position.y", "top.position.z"})
        self.assertIn("top.position", result)
        self.assertNotIn("top.place", result)
        try:
            import pandas
        except ImportError:
            return
        frame = result.to_pandas()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(frame["top.position.x"].iloc[-1], result["top.position.x"][-1])

    def test_views_are_pages(self):
        view = polhode.Simulation(TOP, end=0.05).run().view()
        self.assertIn("<!DOCTYPE html>", view.html)
        self.assertIn("srcdoc=", view._repr_html_())


class Analyses(unittest.TestCase):
    def test_equilibrium_and_modes(self):
        found = pendulum().static()
        np.testing.assert_allclose(found.bodies["rod"].position, [0, 0, -0.5], atol=1e-9)
        self.assertTrue(found.stable)
        mode, = pendulum().modes(static=1)
        self.assertAlmostEqual(mode.frequency, math.sqrt(9.81 * 0.5 / (1 / 3)) / (2 * math.pi), places=9)

    def test_linear_equations(self):
        model = pendulum().add_force("motor", "joint-spring", joint="hinge", stiffness=0)
        linear = model.linearize(inputs=["motor"], outputs=["hinge.angle"], static=1)
        self.assertEqual(linear.A.shape, (2, 2))
        eigenvalues = np.linalg.eigvals(linear.A)
        np.testing.assert_allclose(sorted(eigenvalues.imag), [-3.8360, 3.8360], atol=1e-4)
        np.testing.assert_allclose(np.abs(linear.C @ linear.A @ linear.B), 3.0, rtol=1e-9)  # 1/J


if __name__ == "__main__":
    unittest.main()
