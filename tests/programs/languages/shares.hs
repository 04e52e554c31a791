-- Half of the time is spent below direct, three tenths below a recursion, two tenths below a comparison that the C
-- library's qsort calls.
module Main (main) where

import Control.Monad (forM_)
import Data.Bits ((.&.))
import Data.IORef
import Foreign
import Foreign.C.Types
import System.Environment (getArgs)

type Compare = Ptr CInt -> Ptr CInt -> IO CInt

foreign import ccall "wrapper" wrapCompare :: Compare -> IO (FunPtr Compare)

foreign import ccall safe "qsort" qsort :: Ptr CInt -> CSize -> CSize -> FunPtr Compare -> IO ()

{-# NOINLINE work #-}
work :: Int -> Int
work = loop 0
  where
    loop :: Int -> Int -> Int
    loop i x
      | i == 300000 = x
      | otherwise = loop (i + 1) ((x * 31 + i) .&. 0xffff)

{-# NOINLINE direct #-}
direct :: Int -> Int
direct x = 1 + work x

{-# NOINLINE descend #-}
descend :: Int -> Int -> Int
descend 0 x = 1 + work x
descend depth x = 1 + descend (depth - 1) x

compareByWork :: IORef Int -> Compare
compareByWork result _ _ = do
  x <- readIORef result
  writeIORef result $! work x
  return 0

{-# NOINLINE throughC #-}
throughC :: IORef Int -> FunPtr Compare -> IO ()
throughC result compare' = do
  withArray [2, 1] $ \pair -> qsort pair 2 4 compare'
  modifyIORef' result (+ 1)

main :: IO ()
main = do
  arguments <- getArgs
  let rounds = case arguments of
        [text] -> read text
        _ -> 300 :: Int
  result <- newIORef 1
  compare' <- wrapCompare (compareByWork result)
  forM_ [1 .. rounds] $ \_ -> do
    forM_ [1 .. 5 :: Int] $ \_ -> modifyIORef' result direct
    forM_ [1 .. 3 :: Int] $ \_ -> modifyIORef' result (descend 8)
    forM_ [1 .. 2 :: Int] $ \_ -> throughC result compare'
  putStr "share direct;work 0.5\nshare descend;work 0.3\nshare through_c;work 0.2\n"
