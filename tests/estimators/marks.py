"""Warnings that tests of estimators bring about on purpose."""

import pytest

few_epochs = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
odd_data = pytest.mark.filterwarnings("ignore::pellucid.estimators.DataWarning")
converted_targets = pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
skipped_checks = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
