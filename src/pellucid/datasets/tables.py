"""The tables: what each one is, where it comes from, under which licence; and how to read it."""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING

from pellucid.lookup import look_up

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Info:
    """What there is to know about a table.

    Parameters
    ----------
    name : str
        to load it by
    title : str
        for people
    target : str
        the column that is to be predicted
    task : str
        "classification" or "regression"
    categorical : tuple[str, ...]
        columns that hold categories
    rows : int
        how many
    source : str
        where it comes from
    licence : str
        its name
    licence_url : str
        where it is written
    citation : str
        what to cite
    changes : str
        what was done to the original
    sha256 : str
        of the file
    """

    name: str
    title: str
    target: str
    task: str  # "classification" or "regression"
    categorical: tuple[str, ...]
    rows: int
    source: str
    licence: str
    licence_url: str
    citation: str
    changes: str
    sha256: str  # of the compressed file


@dataclass(frozen=True)
class Dataset:
    """A table with its target. It unpacks into the two: `X, y = load(...)`.

    Parameters
    ----------
    X : pd.DataFrame
        inputs
    y : pd.Series
        target
    info : Info
        where it comes from
    """

    X: pd.DataFrame
    y: pd.Series
    info: Info

    def __iter__(self) -> Iterator[pd.DataFrame | pd.Series]:
        return iter((self.X, self.y))


Table = Dataset  # its older name


TABLES: dict[str, Info] = {
    info.name: info
    for info in (
        Info(
            name="adult",
            title="Adult (census income): does a person earn more than $50,000 a year?",
            target="income",
            task="classification",
            categorical=(
                "workclass",
                "education",
                "marital_status",
                "occupation",
                "relationship",
                "race",
                "sex",
                "native_country",
            ),
            rows=16_000,
            source="UCI Machine Learning Repository, https://archive.ics.uci.edu/dataset/2/adult",
            licence="CC BY 4.0",
            licence_url="https://creativecommons.org/licenses/by/4.0/",
            citation=(
                "Becker, B. and Kohavi, R. (1996). Adult [Dataset]. UCI Machine Learning Repository. "
                "https://doi.org/10.24432/C5XW20"
            ),
            changes=(
                "16,000 of the 48,842 rows of the training and test files together, drawn without replacement "
                "(numpy.random.default_rng(0).choice) and left in their order; '?' became an empty cell; hyphens in "
                "column names became underscores; full stops after the labels of the test file were removed"
            ),
            sha256="2438cf4263c4a1a4f7cd3d247174d8e1d27dc59085a6b8ff4bc2f88c7e5d017c",
        ),
        Info(
            name="california",
            title="California housing: the median value of houses in a block of the census of 1990, in dollars",
            target="median_house_value",
            task="regression",
            categorical=("ocean_proximity",),
            rows=3_000,
            source="StatLib (Pace and Barry), in the form of https://github.com/ageron/handson-ml2",
            licence="Apache-2.0",
            licence_url="https://www.apache.org/licenses/LICENSE-2.0",
            citation=(
                "Pace, R. K. and Barry, R. (1997). Sparse spatial autoregressions. Statistics and Probability Letters "
                "33, 291-297. https://doi.org/10.1016/S0167-7152(96)00140-X"
            ),
            changes=(
                "3,000 of the 20,640 rows, drawn without replacement (numpy.random.default_rng(0).choice) and left in "
                "their order"
            ),
            sha256="3e7e6d2482b5259301919bb2e00774d9ab87eb203df0d73e8ba5eb00c0b74064",
        ),
        Info(
            name="penguins",
            title="Palmer penguins: which of three species?",
            target="species",
            task="classification",
            categorical=("island", "sex"),
            rows=344,
            source="palmerpenguins, https://allisonhorst.github.io/palmerpenguins/, as in seaborn-data",
            licence="CC0 1.0",
            licence_url="https://creativecommons.org/publicdomain/zero/1.0/",
            citation=(
                "Horst, A. M., Hill, A. P. and Gorman, K. B. (2020). palmerpenguins: Palmer Archipelago (Antarctica) "
                "penguin data. https://doi.org/10.5281/zenodo.3960218"
            ),
            changes="none, but for the compression",
            sha256="a8218c6c0c9ed8ee5597042251968fd0922ec7cf0d9e596f2763151fb302ca27",
        ),
    )
}


def load(name: str) -> Dataset:
    """A table that comes with the package. All have numbers, categories and missing values. Needs no network.

    Parameters
    ----------
    name : str
        "adult" (16,000 x 14, two classes), "penguins" (344 x 6, three species) or "california" (3,000 x 9, values
        of houses)

    Returns
    -------
    Dataset
        `X`, a data frame, `y`, a series, and `info`

    Examples
    --------
    >>> X, y = load("penguins")
    >>> X.shape, sorted(y.unique())
    ((344, 6), ['Adelie', 'Chinstrap', 'Gentoo'])
    >>> load("adult").info.licence
    'CC BY 4.0'
    """
    import pandas as pd

    info = look_up("table", name, TABLES)
    packed = files("pellucid.datasets").joinpath(f"{info.name}.csv.xz").read_bytes()
    if hashlib.sha256(packed).hexdigest() != info.sha256:
        raise OSError(f"the file of the table {info.name!r} is damaged: install pellucid again")
    frame = pd.read_csv(BytesIO(lzma.decompress(packed)), dtype=dict.fromkeys(info.categorical, "category"))
    return Dataset(frame.drop(columns=info.target), frame[info.target], info)
