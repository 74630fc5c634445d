"""A prediction service: a model behind HTTP, on Starlette. It needs the extra `serve`."""

from pellucid.serve.application import Limits as Limits
from pellucid.serve.application import application as application
from pellucid.serve.predictor import Answers as Answers
from pellucid.serve.predictor import ModelPredictor as ModelPredictor
from pellucid.serve.predictor import Predictor as Predictor
from pellucid.serve.process import run as run
