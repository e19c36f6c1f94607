"""One worker of a distributed classification with XGBoost. FAULT names what goes wrong on this worker."""
import os, sys, time
import numpy as np
import xgboost as xgb
from xgboost import collective
from xgboost.tracker import RabitTracker

rank, world, fault = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), os.environ.get("FAULT", "")
port = int(os.environ.get("TRACKER_PORT", "9991"))
if rank == 0:
    tracker = RabitTracker(host_ip=os.environ["MASTER_IP"], n_workers=int(os.environ.get("TRACKED", world)), port=port)
    tracker.start(int(os.environ.get("TRACKED", world)))
else:
    time.sleep(2)
where = {"rabit_tracker_uri": os.environ["MASTER_IP"], "rabit_tracker_port": str(port), "DMLC_TRACKER_URI": os.environ["MASTER_IP"], "DMLC_TRACKER_PORT": str(port)}
with collective.CommunicatorContext(xgboost_communicator="rabit", **where):
    print(f"worker {collective.get_rank()}/{world} connected as {os.environ['POD']}", flush=True)
    rng = np.random.default_rng(rank)
    X = rng.normal(size=(600, 6)).astype("f4")
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    if fault == "base":
        xgb.Booster().load_model("/ckpt/base.json")
    if fault == "rows":
        y = y[:-3]
    if fault == "infinite":
        X[5, 2] = np.inf
    if fault == "classes":
        y[3] = 9

    class Paced(xgb.callback.TrainingCallback):
        def after_iteration(self, model, epoch, log):
            if fault == "save" and epoch == 7:
                model.save_model("/ro/model.json")
            if fault == "leave" and epoch == 7:
                print("budget of this worker is used, leaving", flush=True)
                os._exit(0)
            time.sleep(0.06)
            return False
    d = xgb.DMatrix(X, label=y)
    xgb.train({"objective": "multi:softprob", "num_class": 3, "tree_method": "hist", "nthread": 1}, d, int(os.environ.get("STEPS", 18)), evals=[(d, "fit")], verbose_eval=3 if rank == 0 else False, callbacks=[Paced()])
    print("boosting finished", flush=True)
