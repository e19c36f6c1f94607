"""One worker of a distributed boosting with XGBoost's tracker. FAULT names what goes wrong on this worker."""
import logging, os, sys, time
import numpy as np
import xgboost as xgb
from xgboost import collective
from xgboost.tracker import RabitTracker

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
fault = os.environ.get("FAULT", "")
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="[%(asctime)s] %(levelname)s %(name)s - %(message)s")
log = logging.getLogger("boost")
tracker = None
if rank == 0:
    tracker = RabitTracker(host_ip=os.environ["MASTER_IP"], n_workers=world, port=9991)
    tracker.start(world)
    log.info("tracker listens on %s:9991", os.environ["MASTER_IP"])
else:
    time.sleep(2)
with collective.CommunicatorContext(xgboost_communicator="rabit", rabit_tracker_uri=os.environ["MASTER_IP"], rabit_tracker_port="9991", DMLC_TRACKER_URI=os.environ["MASTER_IP"], DMLC_TRACKER_PORT="9991"):
    log.info("connected as rank %d of %d", collective.get_rank(), world)
    rng = np.random.default_rng(rank)
    X = rng.normal(size=(800, 8))
    y = (X[:, 0] > 0).astype(float)
    if fault == "label":
        y[7] = 3
    if fault == "nan-label":
        y[7] = np.nan
    if fault == "file":
        X = np.load("/data/fold-%d.npy" % rank)
    if fault == "columns":
        X = X[:, :5]
    if fault == "empty":
        X, y = X[:0], y[:0]
    if fault == "objective":
        os.environ["OBJECTIVE"] = "binary:logitraw2"
    depth = -3 if fault == "depth" else 6
    if fault == "memory":
        hoard = []
        while True:
            hoard.append(bytearray(b"x" * (8 << 20)))
    class After(xgb.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            if fault == "raise" and epoch == 8:
                raise KeyError("valid")
            if fault == "no-early-stop" and epoch == 11:
                return model.best_iteration > 2
            time.sleep(0.05)
            return False
    d = xgb.DMatrix(X, y)
    rounds = int(os.environ.get("STEPS", 20))
    xgb.train({"objective": os.environ.get("OBJECTIVE", "binary:logistic"), "tree_method": "hist", "max_depth": depth, "nthread": 1}, d, rounds, evals=[(d, "train")], verbose_eval=5 if rank == 0 else False, callbacks=[After()])
    log.info("%d rounds done", rounds)
