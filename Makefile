# The commands a newcomer needs.  Each installs what is missing, configures and builds first; the
# build itself is CMakeLists.txt with the presets of CMakePresets.json.
PRESET = release
PREFIX = /usr/local
BUILD = build/$(PRESET)
MODEL = models/bruels-cardona-2010/heavy_top.json
RESULT = build/heavy_top.csv

help:
	@echo "polhode: simulation of constrained multibody systems"
	@echo ""
	@echo "  make demo              simulate a spinning top and print what it did"
	@echo "  make test              run all tests"
	@echo ""
	@echo "  make build             build only, into $(BUILD)"
	@echo "  make install           install into PREFIX=$(PREFIX)"
	@echo "  make bench             measure the speed"
	@echo "  make table             measure every method on the heavy top: docs/heavy-top-table.md"
	@echo "  make reproduce         repeat all published results: docs/reproduce-verdicts.md"
	@echo "  make debug-test        run all tests with the sanitizers"
	@echo "  make coverage          run all tests and report which lines they reach"
	@echo "  make format            format the sources"
	@echo "  make format-check      say which sources are not formatted"
	@echo "  make clean             remove everything that was built"

build:
	@scripts/setup.sh
	@scripts/build.sh $(PRESET)

demo: build
	@echo "==> simulating the heavy top ($(MODEL))"
	@$(BUILD)/polhode run $(MODEL) --out $(RESULT)
	@echo "==> the motion is in $(RESULT), one line a time step; try also: $(BUILD)/polhode --help"

test: build
	@scripts/test.sh $(PRESET)

debug-test:
	@$(MAKE) --no-print-directory test PRESET=debug

coverage:
	@scripts/setup.sh gcovr
	@scripts/build.sh coverage
	@find build/coverage -name '*.gcda' -delete
	@scripts/test.sh coverage
	@scripts/build.sh coverage coverage
	@echo "==> the report is in build/coverage/report/index.html"

table: build
	@$(BUILD)/studies/heavy_top_table >docs/heavy-top-table.md
	@echo "==> docs/heavy-top-table.md"

reproduce: build
	@$(BUILD)/polhode reproduce all --out build/reproduced
	@cp build/reproduced/verdicts.md docs/reproduce-verdicts.md
	@echo "==> build/reproduced/index.html and docs/reproduce-verdicts.md"

bench: build
	@for program in $(BUILD)/bench/*; do "$$program" || exit 1; done

install: build
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

format format-check:
	@scripts/setup.sh clang-format
	@scripts/build.sh $(PRESET) $@

clean:
	@rm -rf build

.PHONY: help build demo test debug-test coverage table bench install format format-check clean
